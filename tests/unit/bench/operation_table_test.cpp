// Operations on a fake GPU, measured in passes.
#include "bench/experiments/operation_table.hpp"

#include <gmock/gmock.h>

#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/bench/experiment_options.hpp"
#include "tests/unit/bench/fake_gpu.hpp"

namespace eckart::bench {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr Shape kShape{.operation = Operation::reconstruct, .m = 32, .n = 32, .k = 8};

std::vector<OperationRow> measured_rows(const Devices& devices) {
  return measure_shapes("", {kShape}, devices, quick()).rows;
}

const OperationRow& row_of(const std::vector<OperationRow>& rows, const std::string& name) {
  for (const OperationRow& row : rows) {
    if (row.name() == name) return row;
  }
  throw std::out_of_range(name);
}

TEST(OperationRow, has_the_times_and_speedup_of_a_variant) {
  const auto rows = measured_rows(devices_with({{.name = "fast"}}));
  ASSERT_THAT(rows, SizeIs(3));
  const OperationRow& loops = row_of(rows, "CPU, loops, 1 core");
  EXPECT_GE(loops.compute_s.samples, 10);
  EXPECT_GT(loops.compute_s.median, 0);
  const OperationRow& gpu = row_of(rows, "GPU, fast");
  EXPECT_EQ(gpu.compute_s.median, 1e-9);
  EXPECT_EQ(gpu.copy_in_s.median, 2e-9);
  EXPECT_EQ(gpu.copy_out_s.median, 3e-9);
  EXPECT_EQ(gpu.total_s.median, 6e-9);
  const OperationRow* fastest_on_cpu =
      fastest(rows, [](const OperationRow& row) { return !row.is_on_gpu(); });
  EXPECT_EQ(fastest_on_cpu->speedup.median, 1);
  EXPECT_NEAR(gpu.speedup.median / (fastest_on_cpu->compute_s.median / 1e-9), 1, 1e-6);
  EXPECT_NEAR(gpu.speedup_with_copies.median / gpu.speedup.median, 1.0 / 6, 1e-6);
  EXPECT_NEAR(gpu.roofline_share, kShape.flops() / 1e15 / 1e-9, 1e-9);
}

TEST(OperationRow, is_not_measured_if_its_result_is_wrong) {
  const auto rows = measured_rows(devices_with({{.name = "right"}, {.name = "wrong"}}));
  const OperationRow& wrong = row_of(rows, "GPU, wrong");
  EXPECT_EQ(wrong.compute_s.samples, 0);
  EXPECT_EQ(wrong.not_measured, "its result is wrong");
  EXPECT_GT(wrong.error, 1e-3);
  EXPECT_TRUE(has_wrong_result(rows));
  EXPECT_FALSE(has_wrong_result({row_of(rows, "GPU, right")}));
  Report report;
  report.tables = {operation_table(rows)};
  EXPECT_THAT(to_text(report), HasSubstr("its result is wrong"));
}

TEST(OperationRow, is_not_run_again_if_its_first_call_is_too_slow) {
  const Devices devices = devices_with({{.name = "slow"}});
  const auto rows = measured_rows(devices);
  const OperationRow& slow = row_of(rows, "GPU, slow");
  EXPECT_EQ(slow.not_measured, "takes more than 600 s");
  EXPECT_TRUE(slow.is_right);
  EXPECT_EQ(dynamic_cast<const FakeGpu&>(*devices.gpu).preparations, 1) << "nothing to measure";
  EXPECT_FALSE(has_wrong_result(rows));
}

TEST(OperationRow, says_so_if_the_memory_of_the_gpu_is_too_small) {
  const auto rows = measured_rows(devices_with({}));
  ASSERT_THAT(rows, SizeIs(3));
  EXPECT_THAT(rows[0].not_measured, HasSubstr("no memory for 3 GiB"));
  EXPECT_FALSE(has_wrong_result(rows));
  EXPECT_GT(rows[1].compute_s.samples, 0);
}

TEST(OperationRow, says_that_a_peer_is_wrong_or_fails) {
  Devices devices = without_gpu();
  devices.peers = std::make_unique<FakePeers>();
  const auto rows = measured_rows(devices);
  EXPECT_EQ(row_of(rows, "CPU, wrong, 1 core").not_measured, "its result is wrong");
  EXPECT_EQ(row_of(rows, "CPU, failing, 1 core").not_measured, "MemoryError: no memory");
  EXPECT_EQ(row_of(rows, "CPU, failing later, 1 core").not_measured, "MemoryError: no memory");
  EXPECT_EQ(row_of(rows, "CPU, right, 1 core").compute_s.median, 1e-9);
  EXPECT_EQ(row_of(rows, "CPU, right, 1 core").speedup.median, 1) << "it is the fastest on the CPU";
  EXPECT_FALSE(has_wrong_result(rows));
}

TEST(OperationTable, has_no_speedup_if_nothing_was_measured_on_the_cpu) {
  OperationRow row;
  row.variant.name = "fast";
  row.compute_s = row.total_s = {.median = 1, .low = 1, .high = 1, .samples = 10};
  const Table table = operation_table({row});
  for (const Column& column : table.columns) EXPECT_NE(column.key, "speedup");
}

TEST(OperationTable, compares_float32_with_float64) {
  Shape float64 = kShape;
  float64.precision = Precision::float64;
  Devices devices = devices_with({{.name = "fast"}});
  const MeasuredShapes measured = measure_shapes("", {kShape, float64}, devices, quick());
  const OperationRow& gpu = row_of(measured.rows, "GPU, fast");
  EXPECT_EQ(gpu.shape.precision, Precision::float32);
  EXPECT_EQ(gpu.speedup_over_float64, 1);
  const OperationRow& cpu = row_of(measured.rows, "CPU, loops, 1 core");
  EXPECT_GT(cpu.speedup_over_float64, 0.05);
  EXPECT_LT(cpu.speedup_over_float64, 20);
  EXPECT_EQ(measured.rows.back().shape.precision, Precision::float64);
  EXPECT_EQ(measured.rows.back().speedup_over_float64, 0);
}

TEST(OperationTable, has_the_intensity_of_operations_that_memory_limits) {
  const Shape sum{.operation = Operation::add, .n = 1000};
  const Table table = operation_table(measure_shapes("", {sum}, without_gpu(), quick()).rows);
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].key == "flop_per_byte") {
      EXPECT_DOUBLE_EQ(std::get<double>(table.rows[0][i]), 1.0 / 12);
      return;
    }
  }
  ADD_FAILURE() << "no such column";
}

TEST(OperationTable, has_no_columns_that_only_a_gpu_fills_without_one) {
  const Table table = operation_table(measured_rows(without_gpu()));
  std::vector<std::string> keys;
  for (const Column& column : table.columns) keys.push_back(column.key);
  EXPECT_THAT(keys, ElementsAre("size", "variant", "relative_error", "compute_us", "gflop_per_s",
                                "gb_per_s", "roofline_percent", "speedup"));
}

TEST(Experiment, measures_each_size_in_several_passes_with_other_sizes_between) {
  std::string order, lines;
  ExperimentOptions options = quick();
  options.print_line = [&](const std::string& line) { lines += line + "\n"; };
  EXPECT_EQ(measure_in_passes(options, "pixels", {"a", "b"},
                              [&](std::size_t size, std::size_t pass) {
                                order += size == 0 ? 'a' : 'b';
                                order += char('0' + pass);
                              }),
            2U);
  EXPECT_EQ(order, "a0b0a1b1a2b2a3b3a4b4");
  EXPECT_THAT(lines, AllOf(HasSubstr("pixels, pass 1 of 5, 1 of 2: a\n"),
                           HasSubstr("pixels, pass 5 of 5, 2 of 2: b\n")));
}

TEST(Experiment, keeps_sizes_that_were_measured_once_after_a_stop_request) {
  for (const auto& [size_at_stop, complete] : {std::pair{0, 0U}, {1, 1U}, {2, 2U}, {4, 3U}}) {
    std::stop_source stop;
    ExperimentOptions options = quick();
    options.stop = stop.get_token();
    int calls = 0;
    EXPECT_EQ(measure_in_passes(options, "", {"a", "b", "c"},
                                [&, stop_at = size_at_stop](std::size_t, std::size_t) {
                                  if (calls++ == stop_at) stop.request_stop();
                                }),
              complete);
    EXPECT_EQ(calls, size_at_stop + 1);
  }
}

TEST(Experiment, keeps_the_times_of_peers_that_a_stop_request_ends_in_a_later_pass) {
  std::stop_source stop;
  int passes = 0;
  ExperimentOptions options = quick();
  options.stop = stop.get_token();
  options.print_line = [&](const std::string& line) { passes += line.starts_with("pass") ? 1 : 0; };
  Devices devices = without_gpu();
  auto peers = std::make_unique<FakePeers>();
  peers->before_run = [&] {
    if (passes < 2) return;
    stop.request_stop();
    throw std::runtime_error("python3 ended");
  };
  devices.peers = std::move(peers);
  const auto rows = measure_shapes("", {kShape}, devices, options).rows;
  EXPECT_EQ(passes, 2);
  EXPECT_EQ(row_of(rows, "CPU, right, 1 core").not_measured, "");
  EXPECT_GE(row_of(rows, "CPU, right, 1 core").compute_s.samples, 4);
}

TEST(Experiment, keeps_the_times_of_the_passes_before_the_memory_was_too_small) {
  Devices devices = devices_with({{.name = "fast"}});
  dynamic_cast<FakeGpu&>(*devices.gpu).max_preparations = 1;
  const auto rows = measured_rows(devices);
  const OperationRow& gpu = row_of(rows, "GPU, fast");
  EXPECT_EQ(gpu.not_measured, "");
  EXPECT_GE(gpu.compute_s.samples, 4);
  EXPECT_LT(gpu.compute_s.samples, row_of(rows, "CPU, loops, 1 core").compute_s.samples);
}

TEST(Experiment, prepares_an_operation_in_each_pass_and_checks_it_once) {
  Devices devices = devices_with({{.name = "fast"}});
  const auto rows = measured_rows(devices);
  const auto& gpu = dynamic_cast<const FakeGpu&>(*devices.gpu);
  EXPECT_EQ(gpu.preparations, kPasses);
  EXPECT_EQ(gpu.results, 1);
  EXPECT_GE(row_of(rows, "GPU, fast").compute_s.samples, 12);
}

TEST(Sample, says_which_works_are_too_slow_unless_they_were_measured_before) {
  MeasuredTimes slow_times, fast_times, old_times;
  old_times.add({.times = {{1}}}, 0);
  std::string slow, fast, old;
  double now = 100;
  ExperimentOptions options = quick();
  options.max_call_seconds = 0;  // of the extent
  options.now = [&] { return now; };
  const auto work = [&](double seconds) {
    return [&now, seconds] {
      now += seconds;
      return std::vector{seconds};
    };
  };
  sample({{work(0.6), &slow_times, &slow},
          {work(0.4), &fast_times, &fast},
          {work(0.6), &old_times, &old}},
         1, options);
  EXPECT_EQ(slow, "takes more than 0.500 s");
  EXPECT_EQ(fast, "");
  EXPECT_EQ(old, "");
  ASSERT_EQ(old_times.passes.at(0).size(), 2U);
  EXPECT_GE(old_times.passes[0][1].size(), 4U) << "it has samples of this pass, too";
}

/// Copies and the time in Python do not make a computation too slow.
TEST(Sample, compares_the_first_time_with_the_limit) {
  MeasuredTimes times;
  std::string not_measured;
  double now = 100;
  ExperimentOptions options = quick();
  options.max_call_seconds = 1;
  options.now = [&] { return now; };
  sample({{[&] {
             now += 5;
             return std::vector{0.9, 5.0};
           },
           &times, &not_measured}},
         0, options);
  EXPECT_EQ(not_measured, "");
  EXPECT_TRUE(times.is_measured());
}

TEST(GpuClock, is_read_after_each_long_call_and_some_short_ones) {
  int readings = 0;
  ExperimentOptions options = quick();
  options.read_clock = [&] { ++readings; };
  const TimedWork slow = with_clock([] { return std::vector{0.01}; }, options),
                  fast = with_clock([] { return std::vector{1e-6}; }, options);
  for (int i = 0; i < 3; ++i) slow();
  EXPECT_EQ(readings, 3);
  for (int i = 0; i < 16; ++i) fast();
  EXPECT_EQ(readings, 5);
}

TEST(Sample, keeps_the_number_of_the_pass_of_works_that_missed_one_before) {
  MeasuredTimes missed_first, missed_last;
  std::string not_measured;
  const TimedWork work = [] { return std::vector<double>{1}; };
  sample({{work, &missed_last, &not_measured}}, 0, quick());
  sample({{work, &missed_first, &not_measured}}, 1, quick());
  EXPECT_FALSE(missed_last.passes.at(0).at(0).empty());
  EXPECT_EQ(missed_last.passes.at(0).size(), 1);
  EXPECT_TRUE(missed_first.passes.at(0).at(0).empty());
  EXPECT_FALSE(missed_first.passes.at(0).at(1).empty());
}

}  // namespace
}  // namespace eckart::bench
