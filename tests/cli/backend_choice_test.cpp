// Which backend `backend: auto` chooses. The folder ECKART_FAKE_GPU has a simulated GPU.
#include <nlohmann/json.hpp>

#include "app/make_backend.hpp"
#include "settings/calibration.hpp"
#include "tests/cli/cli_fixture.hpp"
#include "tests/unit/codec/dicom_maker.hpp"

namespace eckart::test {
namespace {

class BackendChoiceTest : public CliTest {
 protected:
  /// Runs with a GPU whose module, if it is loaded, has the build ID of another build.
  ProcessResult run_with_gpu(std::vector<std::string> more) {
    std::vector<std::string> arguments{"run", "in", "-o", "out", "-k", "2", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments, {.program = fs::path(ECKART_FAKE_GPU) / "eckart",
                           .environment = {{"LD_LIBRARY_PATH", ECKART_FAKE_GPU},
                                           {"FAKE_GPU_BUILD_ID", "of another build"}}});
  }
  static std::string reason_in(const ProcessResult& finished) {
    return nlohmann::json::parse(finished.out).at("backend_reason");
  }
};

TEST_F(BackendChoiceTest, starts_cuda_only_for_much_work) {
  for (const char* name : {"in/a.png", "in/b.png"}) write_png(name);
  const ProcessResult few = run_with_gpu({});
  EXPECT_EQ(few.code, 0) << few.err;
  EXPECT_THAT(reason_in(few), AllOf(HasSubstr("the CPU is predicted to need"),
                                    HasSubstr("for 2 images, and CUDA is used from 600 ms")));
  EXPECT_THAT(few.err, HasSubstr(reason_in(few)));

  const std::string cpu =
      app::make_backend(settings::BackendChoice::cpu, {}, 1).backend->device_name();
  const auto reason_if_an_image_takes = [&](double seconds) {
    const SolverCosts costs = {{.batch_s = seconds}, {.batch_s = seconds}};
    write("costs.yaml",
          settings::to_yaml(Calibration{{CostBackend::cpu, cpu, "2020-01-01", costs}}));
    return reason_in(
        run_with_gpu({"--overwrite", "--set", "calibration=costs.yaml", "--set", "cpu.lanes=1"}));
  };
  const char* const of_cuda = "libeckart_cuda.so has build ID of another build";
  // Of two images, 2.5 times this is assumed.
  EXPECT_THAT(reason_if_an_image_takes(0.115), HasSubstr("575 ms for 2 images"));
  EXPECT_THAT(reason_if_an_image_takes(0.125), HasSubstr(of_cuda));
  EXPECT_THAT(reason_in(run_with_gpu({"--overwrite", "--deterministic"})), HasSubstr(of_cuda))
      << "the bytes would depend on the number of images";
}

using OpencvModuleTest = BackendChoiceTest;

TEST_F(OpencvModuleTest, is_named_when_it_is_not_installed) {
  write_png("in/a.png");
  const ProcessResult result = run_with_gpu({"--set", "input.decoder=opencv"});
  EXPECT_EQ(result.code, int(ExitCode::unavailable));
  EXPECT_THAT(result.err, HasSubstr("input.decoder=opencv is not available: libeckart_opencv.so is "
                                    "not installed"));
}

using DcmtkModuleTest = BackendChoiceTest;

/// Not a fault of the file: a service would put it into the quarantine.
TEST_F(DcmtkModuleTest, is_named_when_it_is_not_installed) {
  const auto jpeg = encoded("jpeg", 16, 24);
  write("in/a.dcm", DicomMaker(8)
                        .number(DicomMaker::kRows, 16)
                        .number(DicomMaker::kCols, 24)
                        .syntax(".4.50")
                        .frame({reinterpret_cast<const char*>(jpeg.data()), jpeg.size()})
                        .file());
  const ProcessResult result = run_with_gpu({"--backend", "cpu"});
  if (result.err.find("was built without") != std::string::npos) GTEST_SKIP() << result.err;
  EXPECT_EQ(result.code, int(ExitCode::unavailable));
  EXPECT_THAT(result.err, HasSubstr("compressed DICOM files cannot be read: libeckart_dcmtk.so is "
                                    "not installed"));
}

}  // namespace
}  // namespace eckart::test
