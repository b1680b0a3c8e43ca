// No image is lost with a GPU. The program restarts, computes the suspects one by one, and computes
// an image on the CPU after it lost the GPU twice.
#include <nlohmann/json.hpp>

#include "tests/cli/cli_fixture.hpp"

namespace eckart::test {
namespace {

using Environment = std::map<std::string, std::string>;

class DeviceLossTest : public CliTest {
 protected:
  static constexpr int kImages = 30;

  void SetUp() override {
    for (int i = 0; i < kImages; ++i) write_png("in/" + std::to_string(i) + ".png");
  }

  /// Writes an image whose first sample is 7; no other image has that.
  void write_device_loss_image(const fs::path& relative) {
    Image image(ImageShape{24, 16, 1, Depth::u8});
    std::fill_n(image.data(), image.bytes(), std::byte{7});
    write(relative, codec::codec_for(ImageFormat::png).encode(image, {}));
  }

  ProcessResult run_on_gpu(Environment environment, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments{"run", "in", "-o",     "out",
                                       "-k",  "2",  "--json", "--deterministic"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    environment["LD_LIBRARY_PATH"] = ECKART_FAKE_GPU;  // contains a libcuda.so.1
    return run(arguments,
               {.program = fs::path(ECKART_FAKE_GPU) / "eckart", .environment = environment});
  }
  static nlohmann::json json_of(const ProcessResult& finished) {
    return nlohmann::json::parse(finished.out);
  }

  void expect_complete() {
    for (int i = 0; i < kImages; ++i)
      EXPECT_NO_THROW(decode("out/" + std::to_string(i) + ".png")) << i;
    for (const std::string& name : files("out"))
      EXPECT_THAT(name, Not(HasSubstr(".eckart-"))) << "a temporary is left";
  }
};

TEST_F(DeviceLossTest, is_recovered_by_a_new_process) {
  const ProcessResult result =
      run_on_gpu({{"FAKE_GPU_LOST_AT_BATCH", "3"}}, {"--report", at("report.jsonl").native()});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("CUDA error 719"));
  EXPECT_THAT(result.err, HasSubstr("restarting (1 of 3)"));
  EXPECT_THAT(result.err, HasSubstr("the GPU was lost 1 time"));
  expect_complete();
  const auto json = json_of(result);
  EXPECT_EQ(json.at("backend"), "cuda");
  EXPECT_EQ(int(json.at("done")) + int(json.at("skipped")), kImages);
  const auto report = io::read_file(at("report.jsonl"), 1024);
  EXPECT_EQ(std::count(report.begin(), report.end(), std::byte('\n')), kImages)
      << "both processes' lines";
}

TEST_F(DeviceLossTest, restarts_the_run_at_most_three_times) {
  const Environment each_time{{"FAKE_GPU_LOST_AT_BATCH", "2"},
                              {"FAKE_GPU_LOST_EVERY_PROCESS", "1"}};
  const ProcessResult first = run_on_gpu(each_time);
  EXPECT_EQ(first.code, int(ExitCode::temporary));
  EXPECT_THAT(first.err, HasSubstr("restarting (3 of 3)"));
  EXPECT_THAT(first.err,
              HasSubstr("the GPU was lost 4 times; run the same command again to finish"));
  EXPECT_FALSE(files("out").empty()) << "what is done is published";
  EXPECT_EQ(run_on_gpu({}).code, 0);
  expect_complete();
}

/// A script that a restarted process started inherits the variable.
TEST_F(DeviceLossTest, ignores_restart_count_of_another_process) {
  const ProcessResult result = run_on_gpu({{"FAKE_GPU_LOST_AT_BATCH", "1"},
                                           {"FAKE_GPU_LOST_EVERY_PROCESS", "1"},
                                           {"ECKART_RESTARTS", "1:3:1"}});
  EXPECT_THAT(result.err, HasSubstr("restarting (1 of 3)"));
  EXPECT_THAT(result.err, HasSubstr("the GPU was lost 4 times"));
}

TEST_F(DeviceLossTest, leaves_an_image_to_the_cpu_after_the_second_time) {
  write_device_loss_image("in/killer.png");
  const ProcessResult result = run_on_gpu({{"FAKE_GPU_LOST_ON_SAMPLE", "7"}});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("restarting (2 of 3)"));
  EXPECT_THAT(result.err,
              HasSubstr("in/killer.png: the GPU was lost 2 times while computing this image"));
  EXPECT_EQ(json_of(result).at("backend"), "cuda") << "which does all others";
  expect_complete();
  EXPECT_NO_THROW(decode("out/killer.png"));
  EXPECT_THAT(run({"status", "out"}).out, HasSubstr("31 done, 0 failed\n0 unfinished\n"));
}

/// Three images; the first batch has two of them.
TEST_F(DeviceLossTest, requires_another_run_when_too_many_images_cause_it) {
  for (const char* name : {"in/k1.png", "in/k2.png", "in/k3.png"}) write_device_loss_image(name);
  const Environment killer{{"FAKE_GPU_LOST_ON_SAMPLE", "7"}};
  const ProcessResult first = run_on_gpu(killer);
  EXPECT_EQ(first.code, int(ExitCode::temporary)) << first.err;
  EXPECT_EQ(run_on_gpu(killer).code, 0);
  expect_complete();
  EXPECT_NO_THROW(decode("out/k3.png"));
}

TEST_F(DeviceLossTest, does_not_prevent_an_overwriting_run_from_completing) {
  EXPECT_EQ(run_on_gpu({}).code, 0);
  using std::chrono::file_clock, std::chrono::sys_days, std::chrono::sys_seconds;
  const auto year_2000 =
      file_clock::from_sys(sys_seconds(sys_days(std::chrono::year(2000) / 1 / 1)));
  const Names outputs = files("out");
  ASSERT_EQ(outputs.size(), std::size_t(kImages));
  for (const std::string& name : outputs) fs::last_write_time(at("out/" + name), year_2000);
  Environment lost{{"FAKE_GPU_LOST_AT_BATCH", "3"}};
  EXPECT_EQ(run_on_gpu(lost, {"--overwrite"}).code, 0);
  for (const std::string& name : outputs) {
    EXPECT_GT(fs::last_write_time(at("out/" + name)), year_2000) << name;
  }
}

TEST_F(DeviceLossTest, leads_to_the_cpu_when_the_gpu_is_missing) {
  const Environment gone{{"FAKE_GPU_LOST_AT_BATCH", "3"}, {"FAKE_GPU_MISSING_AFTER_RESTART", "1"}};
  const ProcessResult result = run_on_gpu(gone);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("the lost GPU is not available; continuing on the CPU"));
  EXPECT_EQ(json_of(result).at("backend"), "cpu");
  expect_complete();
}

TEST_F(DeviceLossTest, ends_a_run_that_requires_cuda_when_the_gpu_is_missing) {
  const Environment gone{{"FAKE_GPU_LOST_AT_BATCH", "3"}, {"FAKE_GPU_MISSING_AFTER_RESTART", "1"}};
  const ProcessResult result = run_on_gpu(gone, {"--backend", "cuda"});
  EXPECT_EQ(result.code, int(ExitCode::unavailable));
  EXPECT_EQ(run_on_gpu({}, {"--backend", "cuda"}).code, 0);
  expect_complete();
}

TEST_F(DeviceLossTest, does_not_restart_the_run_without_ledger) {
  const Environment lost{{"FAKE_GPU_LOST_AT_BATCH", "3"}};
  const ProcessResult without_ledger = run_on_gpu(lost, {"--set", "ledger=none"});
  EXPECT_EQ(without_ledger.code, int(ExitCode::temporary));
  EXPECT_THAT(without_ledger.err, Not(HasSubstr("restarting")));
}

}  // namespace
}  // namespace eckart::test
