// Tests the output of `eckart doctor`, and that runs use its calibration.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>

#include "app/make_backend.hpp"
#include "settings/calibration.hpp"
#include "tests/cli/cli_fixture.hpp"

namespace eckart::test {
namespace {

class DoctorCommandTest : public CliTest {
 protected:
  ProcessResult calibrate(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"doctor",      "--backend", "cpu",
                                          "--calibrate", "--seconds", "0"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }
  /// With a simulated GPU. The environment is that of tests/cli/fake_gpu.cpp.
  ProcessResult run_with_gpu(std::vector<std::string> arguments,
                             std::map<std::string, std::string> environment = {}) {
    arguments.insert(arguments.begin(), "doctor");
    environment["LD_LIBRARY_PATH"] = ECKART_FAKE_GPU;
    return run(arguments, {.program = fs::path(ECKART_FAKE_GPU) / "eckart",
                           .environment = std::move(environment)});
  }
  nlohmann::json solver_of_a_run(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"run",       "in",  "-o",     "out", "-k",         "5",
                                          "--backend", "cpu", "--json", "-q",  "--overwrite"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProcessResult result = run(arguments);
    EXPECT_EQ(result.code, 0) << result.err;
    return nlohmann::json::parse(result.out).at("solvers").at(0);
  }
  /// Multiplies the stored costs of `subspace` by this factor.
  void price_subspace(double factor) {
    Calibration costs = settings::read_calibration(at(kStored));
    for (const auto& [name, coefficient] : kCostTerms)
      costs.at(0).costs.subspace.*coefficient *= factor;
    write(kStored, settings::to_yaml(costs));
  }

  static constexpr const char* kStored = "config/eckart/calibration.yaml";
};

TEST_F(DoctorCommandTest, reports_built_in_costs) {
  const ProcessResult result = run({"doctor"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("solver costs: built-in"));
  EXPECT_THAT(files("config"), IsEmpty());
}

TEST_F(DoctorCommandTest, checks_only_the_requested_backend) {
  const ProcessResult cpu = run({"doctor", "--backend", "cpu"});
  EXPECT_EQ(cpu.code, 0) << cpu.err;
  EXPECT_THAT(cpu.out, Not(HasSubstr("cuda ")));
  const ProcessResult cuda = run({"doctor", "--backend", "cuda"});
  EXPECT_THAT(cuda.out, Not(HasSubstr("cpu ")));
  EXPECT_THAT(cuda.code, AnyOf(0, int(ExitCode::unavailable)));
}

TEST_F(DoctorCommandTest, prints_its_checks_as_a_json_object) {
  EckartProcess::Options options;  // OpenBLAS does not recognize every CPU, which is a warning
  options.environment = {{"OPENBLAS_CORETYPE", "Nehalem"}};
  const ProcessResult result = run({"doctor", "--json"}, options);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out.find("{\"kind\":\"doctor\","), 0U);
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json.at("ready"), true);
  EXPECT_GE(json.at("machine").at("cores"), 1);
  EXPECT_EQ(json.at("checks").size(), 2U) << "one for each backend";
  const nlohmann::json& cpu = json.at("checks").at(0);
  EXPECT_EQ(cpu.at("name"), "cpu");
  EXPECT_EQ(cpu.at("result"), "ok");
  EXPECT_EQ(cpu.at("converged"), true);
  EXPECT_LE(cpu.at("max_difference_levels"), 1);
  EXPECT_EQ(json.at("checks").at(1).at("name"), "cuda");
}

TEST_F(DoctorCommandTest, is_quick_with_one_lane_and_one_queue_of_each_gpu) {
  const auto check = [&](const std::vector<std::string>& more, const char* queues_of_user = "") {
    std::map<std::string, std::string> environment;
    if (*queues_of_user) environment["CUDA_DEVICE_MAX_CONNECTIONS"] = queues_of_user;
    std::vector<std::string> arguments = {"--backend", "cuda", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProcessResult result = run_with_gpu(arguments, environment);
    EXPECT_EQ(result.code, 0) << result.err;
    return nlohmann::json::parse(result.out).at("checks").at(0);
  };
  const nlohmann::json quick = check({"--quick"}), all = check({});
  EXPECT_EQ(quick.at("lanes_checked"), 1);
  EXPECT_EQ(all.at("lanes_checked"), all.at("lanes"));
  EXPECT_THAT(quick.at("properties"), ElementsAre("queues: 1"));
  EXPECT_THAT(all.at("properties"), ElementsAre("queues: 16"));
  EXPECT_THAT(check({}, "4").at("properties"), ElementsAre("queues: 4"));
  EXPECT_EQ(run({"doctor", "--quick", "--calibrate"}).code, int(ExitCode::usage));
}

TEST_F(DoctorCommandTest, fails_with_fewer_gpus_than_needed) {
  EXPECT_EQ(run_with_gpu({"--gpus", "1"}).code, 0);
  EXPECT_EQ(run_with_gpu({"--gpus", "1", "--backend", "cpu"}).code, int(ExitCode::usage));
  EXPECT_EQ(run_with_gpu({"--gpus", "0"}).code, int(ExitCode::usage));
  const ProcessResult fewer = run_with_gpu({"--gpus", "2"});
  EXPECT_EQ(fewer.code, int(ExitCode::unavailable));
  EXPECT_THAT(fewer.out,
              AllOf(HasSubstr("cuda     ok"), HasSubstr("This machine is not ready.\n")));
  EXPECT_EQ(fewer.err, "eckart: --gpus 2: only 1 GPU can be used\n");
}

TEST_F(DoctorCommandTest, prints_a_json_object_if_a_gpu_is_missing) {
  struct Case {
    std::map<std::string, std::string> environment;
    std::vector<std::string> arguments;
    ExitCode code;
    std::string detail;
  };
  for (const Case& wrong :
       {Case{{}, {"--gpus", "2"}, ExitCode::unavailable, "--gpus 2: only 1 GPU can be used"},
        Case{{{"FAKE_GPU_LOST_AT_BATCH", "1"}}, {}, ExitCode::unavailable, "CUDA error 719"},
        Case{{{"FAKE_GPU_OUT_OF_MEMORY", "1"}}, {}, ExitCode::unavailable, "memory is full"},
        Case{{{"FAKE_GPU_MISSING_AFTER_RESTART", "1"}, {"ECKART_RESTARTS", "1"}},
             {"--backend", "cuda"},
             ExitCode::unavailable,
             "no usable CUDA device"},
        Case{{{"FAKE_GPU_BUILD_ID", "other"}},
             {"--gpus", "1"},
             ExitCode::configuration,
             "has build ID other"}}) {
    std::vector<std::string> arguments = wrong.arguments;
    arguments.push_back("--json");
    const ProcessResult result = run_with_gpu(arguments, wrong.environment);
    EXPECT_EQ(result.code, int(wrong.code)) << wrong.detail;
    EXPECT_THAT(result.err, HasSubstr(wrong.detail));
    const auto json = nlohmann::json::parse(result.out);
    EXPECT_EQ(json.at("ready"), false);
    const nlohmann::json& cuda = json.at("checks").back();
    EXPECT_EQ(cuda.at("result"), "failed");
    EXPECT_THAT(cuda.at("detail"), HasSubstr(wrong.detail));
  }
  const ProcessResult lost = run_with_gpu({}, {{"FAKE_GPU_LOST_AT_BATCH", "1"}});
  EXPECT_THAT(lost.out, AllOf(HasSubstr("cuda     failed: CUDA error 719"),
                              HasSubstr("This machine is not ready.\n")));
  const ProcessResult warned = run_with_gpu({}, {{"FAKE_GPU_BUILD_ID", "other"}});
  EXPECT_EQ(warned.code, 0) << "without a GPU that is needed";
  EXPECT_THAT(warned.out, HasSubstr("cuda     none: "));
}

TEST_F(DoctorCommandTest, measures_costs_that_runs_use) {
  const ProcessResult result = calibrate();
  ASSERT_EQ(result.code, 0) << result.err;
  std::smatch summary, row;
  ASSERT_TRUE(std::regex_search(
      result.out, summary,
      std::regex("solver costs measured; the model is [0-9]+ % off .*, ([0-9]+) % at most")));
  int largest = 0;
  std::istringstream rows(result.out);
  for (std::string line; std::getline(rows, line);) {
    if (std::regex_search(line, row, std::regex("[+-]([0-9]+) %$")))
      largest = std::max(largest, std::stoi(row[1]));
  }
  EXPECT_EQ(std::stoi(summary[1]), largest);
  EXPECT_THAT(result.out, HasSubstr("gram      1024"));
  ASSERT_THAT(files("config"), ElementsAre("eckart/calibration.yaml"));
  EXPECT_THAT(run({"doctor"}).out, HasSubstr("solver costs: measured on this machine on 20"));

  // Measured costs depend on the machine. With costs far from them, the choice is certain.
  write("in/a.png", encoded("png", 96, 96));
  price_subspace(1e-3);
  EXPECT_EQ(solver_of_a_run().at("solver"), "subspace");
  price_subspace(1e6);
  EXPECT_EQ(solver_of_a_run().at("solver"), "gram");
  EXPECT_EQ(solver_of_a_run({"--set", "calibration=none"}).at("solver"), "subspace");
  const auto asked = solver_of_a_run({"--solver", "subspace"});
  EXPECT_EQ(asked.at("solver"), "subspace");
  EXPECT_EQ(asked.at("reason"), "requested");
}

TEST_F(DoctorCommandTest, replaces_costs_of_this_device_and_keeps_others) {
  const std::string here =
      app::make_backend(settings::BackendChoice::cpu, {}, 1).backend->device_name();
  const SolverCosts costs = {{1}, {2}};
  write("c.yaml",
        settings::to_yaml(Calibration{{CostBackend::cpu, "another CPU", "2020-01-01", costs},
                                      {CostBackend::cpu, here, "2020-01-01", costs}}));
  ASSERT_EQ(calibrate({"--calibration", "c.yaml"}).code, 0);
  const Calibration stored = settings::read_calibration(at("c.yaml"));
  std::map<std::string, std::string> dates;
  for (const MeasuredCosts& measured : stored) {
    if (measured.backend != CostBackend::cpu) continue;
    EXPECT_TRUE(dates.emplace(measured.device, measured.date).second) << measured.device;
  }
  EXPECT_EQ(dates.at("another CPU"), "2020-01-01");
  EXPECT_GT(dates.at(here), "2020-01-01");
  EXPECT_THAT(files("config"), IsEmpty());
  EXPECT_THAT(run({"doctor"}).out, HasSubstr("solver costs: built-in"));
  EXPECT_THAT(run({"doctor", "--calibration", "c.yaml"}).out,
              HasSubstr("solver costs: measured on this machine on 20"));
}

TEST_F(DoctorCommandTest, measures_nothing_when_costs_cannot_be_stored) {
  write("c.yaml", "- 7\n");
  const ProcessResult broken = run({"doctor", "--calibrate", "--calibration", "c.yaml"});
  EXPECT_EQ(broken.code, int(ExitCode::configuration));
  EXPECT_THAT(broken.err, HasSubstr("c.yaml:1: '7' is not a map of keys"));
  EXPECT_EQ(broken.out, "");
}

TEST_F(DoctorCommandTest, warns_of_broken_default_calibration_and_rejects_named_one) {
  write_png("in/a.png");
  write("config/eckart/calibration.yaml", "- 7\n");
  const ProcessResult warned = run({"run", "in", "-o", "out", "-k", "2"});
  EXPECT_EQ(warned.code, 0);
  EXPECT_THAT(warned.err, HasSubstr("calibration.yaml:1: '7' is not a map of keys"));
  write("c.yaml", "- 7\n");
  const ProcessResult refused = run({"run", "in", "-o", "out", "--set", "calibration=c.yaml"});
  EXPECT_EQ(refused.code, int(ExitCode::configuration));
  EXPECT_THAT(refused.err, HasSubstr("c.yaml:1: '7' is not a map of keys"));
}

}  // namespace
}  // namespace eckart::test
