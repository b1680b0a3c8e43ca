#include "capacity/number_format.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "capacity/plan_phrases.hpp"
#include "capacity/scaling.hpp"
#include "capacity/workload.hpp"

namespace eckart::capacity {
namespace {

TEST(PercentFormat, has_as_many_decimals_as_the_size_needs) {
  const std::pair<double, const char*> cases[] = {
      {0, "0 %"},       {0.0004, "0.04 %"}, {0.00094, "0.09 %"}, {0.00096, "0.1 %"},
      {0.012, "1.2 %"}, {0.0994, "9.9 %"},  {0.0996, "10 %"},    {0.974, "97 %"},
      {1.224, "122 %"}, {-0.012, "-1.2 %"}, {-0.5, "-50 %"}};
  for (const auto& [share, text] : cases) EXPECT_EQ(format_percent(share), text);
}

TEST(RangeFormat, has_both_ends_and_no_negative_share) {
  EXPECT_EQ(format_percent_range({0.05, 0.012, 0.25}), "1.2–25 %");
  EXPECT_EQ(format_percent_range({0, -0.3, -0.1}), "0–0 %");
  EXPECT_EQ(format_range({8000, 7530.4, 8469.6}), "7,530–8,470");
}

TEST(LargeCountFormat, has_no_exponent) {
  EXPECT_EQ(format_large_count(1234.4), "1,234");
  EXPECT_EQ(format_large_count(999999999999999), "999,999,999,999,999");
  EXPECT_EQ(format_large_count(1e15), "more than 1e15");
}

TEST(ResourceText, has_the_number_of_servers_if_there_are_several) {
  const auto text = [](Resource resource, int servers) {
    return resource_with_count({.resource = resource, .servers = servers});
  };
  EXPECT_EQ(text(Resource::cores, 1), "its core");
  EXPECT_EQ(text(Resource::cores, 1024), "its 1,024 cores");
  EXPECT_EQ(text(Resource::gpu, 1), "its GPU");
  EXPECT_EQ(text(Resource::gpu, 2), "its 2 GPUs");
  EXPECT_EQ(text(Resource::disk, 8), "its disk");
  EXPECT_EQ(text(Resource::source, 1), "its source thread");
  EXPECT_EQ(text(Resource::write, 4), "its 4 write threads");
  EXPECT_EQ(thread_setting_name(Stage::load), "threads.load");
  EXPECT_EQ(thread_setting_name(Stage::write), "threads.write");
  EXPECT_EQ(thread_setting_name(Stage::compute), "cpu.lanes");
  for (const Resource resource :
       {Resource::cores, Resource::gpu, Resource::disk, Resource::source, Resource::load,
        Resource::batch, Resource::compute, Resource::write})
    EXPECT_EQ(has_thread_setting(resource), resource == Resource::load ||
                                                resource == Resource::compute ||
                                                resource == Resource::write);
}

TEST(Speedup, follows_amdahl_and_gustafson) {
  EXPECT_DOUBLE_EQ(amdahl_speedup(0.25, 4), 4 / 1.75);
  EXPECT_DOUBLE_EQ(amdahl_speedup(0, 7), 7);
  EXPECT_DOUBLE_EQ(gustafson_speedup(0.25, 4), 3.25);
}

LoggedRun logged_run(const std::string& id) {
  LoggedRun run{.id = id,
                .cpu = "a CPU",
                .backend = "cuda",
                .device = "a device",
                .cores = 4,
                .gpus = {"a GPU"},
                .settings = {{"rank", "5"}}};
  run.total = ThroughputSample{.interval_s = 1,
                               .done = 100,
                               .failed = 60,
                               .pixels = 100000,
                               .input_bytes = 16000,
                               .output_bytes = 5000};
  return run;
}

TEST(Workload, has_the_sizes_of_an_image) {
  const Workload workload = group_by_workload({logged_run("a")}).at(0).workload;
  EXPECT_EQ(workload.pixels_per_image, 1000) << "failed images have none";
  EXPECT_EQ(workload.input_bytes_per_image, 100);
  EXPECT_EQ(workload.output_bytes_per_image, 50);
  EXPECT_EQ(workload.device, "a GPU");
  EXPECT_EQ(workload.settings, std::vector<std::string>{"rank=5"});
}

TEST(Workload, is_another_for_other_hardware_settings_or_images) {
  const auto is_same = [](const auto& change) {
    LoggedRun other = logged_run("b");
    change(other);
    return group_by_workload({logged_run("a"), other}).size() == 1;
  };
  using Run = LoggedRun;
  EXPECT_TRUE(is_same([](Run&) {}));
  EXPECT_TRUE(is_same([](Run& run) { run.cores = 8; }));
  EXPECT_TRUE(is_same([](Run& run) { run.device = "the same device under another name"; }));
  EXPECT_TRUE(is_same([](Run& run) { run.host = "another"; }));
  for (const char* key :
       {"threads.load", "threads.write", "telemetry.listen", "cpu.lanes", "cuda.devices"})
    EXPECT_TRUE(is_same([&](Run& run) { run.settings[key] = "7"; })) << key;
  for (const char* key : {"rank", "cuda.lanes", "output.format"})
    EXPECT_FALSE(is_same([&](Run& run) { run.settings[key] = "7"; })) << key;
  EXPECT_FALSE(is_same([](Run& run) { run.cpu = "another"; }));
  EXPECT_FALSE(is_same([](Run& run) { run.backend = "cpu"; }));
  EXPECT_FALSE(is_same([](Run& run) { run.gpus = {"another"}; }));
  EXPECT_FALSE(is_same([](Run& run) { run.recorded_work = "recorded"; }));
  EXPECT_TRUE(is_same([](Run& run) { run.total->pixels = 125000; }));
  EXPECT_FALSE(is_same([](Run& run) { run.total->pixels = 126000; }));
  EXPECT_FALSE(is_same([](Run& run) { run.total->pixels = 79000; }));
  EXPECT_TRUE(is_same([](Run& run) { run.total->input_bytes = 20000; }));
  EXPECT_FALSE(is_same([](Run& run) { run.total->input_bytes = 20200; }));
  EXPECT_FALSE(is_same([](Run& run) { run.total->input_bytes = 12700; }));
}

}  // namespace
}  // namespace eckart::capacity
