// The experiments of eckart bench on a fake GPU.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "bench/experiments/crossover_experiment.hpp"
#include "bench/experiments/lanes_experiment.hpp"
#include "bench/experiments/measured_batches.hpp"
#include "bench/experiments/operation_experiments.hpp"
#include "bench/experiments/pixel_experiment.hpp"
#include "bench/experiments/roofline_experiment.hpp"
#include "bench/experiments/solver_experiment.hpp"
#include "bench/experiments/streams_experiment.hpp"
#include "bench/experiments/transfer_experiment.hpp"
#include "tests/unit/bench/experiment_options.hpp"
#include "tests/unit/bench/fake_backend.hpp"
#include "tests/unit/bench/fake_gpu.hpp"

namespace eckart::bench {
namespace {

using ::testing::_;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

TEST(Experiment, says_what_it_cannot_measure_without_a_gpu) {
  const ExperimentResult result = bench_kernels(without_gpu(), smallest());
  ASSERT_THAT(result.tables, SizeIs(2));
  EXPECT_TRUE(result.is_right);
  for (const Table& table : result.tables)
    EXPECT_THAT(table.notes, Contains(HasSubstr("none in this test")));
  EXPECT_THAT(result.tables[0].lesson, HasSubstr("times as fast as plain loops"));
}

/// The fake GPU takes 1 ns, and with copies 6 ns, whatever the kernel.
TEST(Experiment, says_what_gains_more_a_kernel_or_data_that_stays) {
  const ExperimentResult result = bench_kernels(
      devices_with(
          {{.name = "naive"}, {.name = "shared"}, {.name = "register"}, {.name = "cuBLAS"}}),
      smallest());
  EXPECT_THAT(result.tables[0].lesson,
              HasSubstr("data that stays on the GPU gains more than a better kernel"));
}

TEST(Experiment, waits_for_idle_threads_before_each_sample) {
  ExperimentOptions options = smallest();
  int waits = 0;
  options.wait_until_idle = [&] { ++waits; };
  const ExperimentResult result = bench_bandwidth(without_gpu(), options);
  EXPECT_GE(waits, int(result.tables[0].rows.size()) * 11) << "a warm-up and ten samples";
}

TEST(Experiment, ends_early_after_a_stop_request) {
  std::stop_source stop;
  ExperimentOptions options = quick();
  options.print_line = [&](const std::string&) { stop.request_stop(); };
  options.stop = stop.get_token();
  const ExperimentResult result = bench_bandwidth(without_gpu(), options);
  EXPECT_THAT(result.tables[0].rows, testing::IsEmpty());
}

TEST(Experiment, says_when_it_measures_the_peaks) {
  std::vector<std::string> lines;
  ExperimentOptions options = smallest();
  options.print_line = [&](const std::string& line) { lines.push_back(line); };
  bench_bandwidth(without_gpu(), options);
  ASSERT_THAT(lines, Not(testing::IsEmpty()));
  EXPECT_EQ(lines.front(), "peaks of the devices");
}

/// The rows of a table, with texts as people see them.
std::vector<std::vector<std::string>> texts(const Table& table) {
  std::vector<std::vector<std::string>> rows;
  for (const std::vector<Cell>& cells : table.rows) {
    std::vector<std::string>& row = rows.emplace_back();
    for (std::size_t i = 0; i < cells.size(); ++i) {
      Column column = table.columns[i];
      column.shows_error = false;
      row.push_back(to_text(cells[i], column));
    }
  }
  return rows;
}

TEST(PixelExperiment, checks_pixels_and_errors_and_compares_with_the_library) {
  const ExperimentResult result = bench_pixels(devices_with({{.name = "any"}}), smallest());
  EXPECT_FALSE(result.is_right) << "two rows are wrong";
  ASSERT_THAT(result.tables, SizeIs(1));
  const auto rows = texts(result.tables[0]);
  const std::string batch = "2 of 64 × 64, k = 16";
  ASSERT_THAT(rows, SizeIs(6));
  // 2 × 64 × 64 × 16 multiplications and additions; 32 KiB for factors and 16 KiB for pixels.
  EXPECT_THAT(rows[0], ElementsAre(batch, "GPU, ours", "0", "1.00 ms", "0.262", "0.0328", "1.3e-05",
                                   "50.0", "2.00 ms", "500 us", "4.00 ms", "3.00", _, _));
  EXPECT_THAT(rows[1], ElementsAre(batch, "GPU, theirs", "0", "3.00 ms", "0.0874", _, _, "-", _, _,
                                   _, "1.00", _, _));
  for (const std::size_t wrong : {2, 3}) EXPECT_THAT(rows[wrong], Contains("its result is wrong"));
  EXPECT_THAT(rows[4], ElementsAre(batch, "GPU, without library", "0", "1.00 ms", "0.262", _, _,
                                   "-", _, _, _, "-", _, _));
  EXPECT_THAT(rows[5], ElementsAre(batch, "CPU, OpenBLAS in float32, then rounding, 1 core", "0", _,
                                   _, _, _, "-", "-", "-", "-", "-", "1.00", "-"));
}

TEST(PixelExperiment, says_which_sizes_do_not_fit_into_memory) {
  const ExperimentResult result = bench_pixels(devices_with({}), smallest());
  EXPECT_TRUE(result.is_right);
  const auto rows = texts(result.tables[0]);
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_THAT(rows[0], AllOf(Contains("2 of 64 × 64, k = 16"), Contains("GPU"),
                             Contains(HasSubstr("no memory for 3 GiB"))));
  EXPECT_THAT(rows[1], Contains(HasSubstr("CPU, OpenBLAS")));
}

TEST(PixelExperiment, has_only_rows_of_the_cpu_without_a_gpu) {
  const ExperimentResult result = bench_pixels(without_gpu(), smallest());
  EXPECT_TRUE(result.is_right);
  EXPECT_THAT(texts(result.tables.at(0)), Each(Contains(HasSubstr("CPU, OpenBLAS"))));
  EXPECT_THAT(result.tables[0].notes, Contains(HasSubstr("none in this test")));
  EXPECT_THAT(result.tables[0].lesson, HasSubstr("on 1 core reach"));
}

TEST(TransferExperiment, measures_copies_allocations_and_kernels_on_host_memory) {
  const ExperimentResult result = bench_transfer(devices_with({}), smallest());
  ASSERT_THAT(result.tables, SizeIs(3));
  EXPECT_THAT(texts(result.tables[0]),
              Contains(ElementsAre("1 MiB", "from the GPU, pinned", "26.0 us", "40.4")));
  EXPECT_THAT(result.tables[0].lesson,
              AllOf(HasSubstr("1 MiB to the GPU takes 4.2 times as long from pageable"),
                    HasSubstr("4 KiB takes 5.08 us")));
  EXPECT_THAT(texts(result.tables[1]), Contains(ElementsAre("1 MiB", "pinned", "1.00 ms")));
  EXPECT_THAT(result.tables[2].lesson, HasSubstr("takes 0.50 times the time with copies"));
  EXPECT_THAT(result.tables[0].plots, SizeIs(1));
}

/// Has no memory for the first copy.
class GpuThatIsFullAtFirst : public FakeGpu {
 public:
  using FakeGpu::FakeGpu;
  RepeatableWork copy(HostMemory memory, Direction direction, std::size_t bytes) override {
    if (std::exchange(is_full_, false)) throw compute::OutOfMemory("cudaMalloc: no memory");
    return FakeGpu::copy(memory, direction, bytes);
  }

 private:
  bool is_full_ = true;
};

TEST(TransferExperiment, says_which_size_did_not_fit_into_memory_in_the_first_pass) {
  Devices devices = devices_with({});
  devices.gpu = std::make_unique<GpuThatIsFullAtFirst>(std::vector<Variant>{});
  const ExperimentResult result = bench_transfer(devices, smallest());
  const auto rows = texts(result.tables[0]);
  EXPECT_THAT(rows[0], ElementsAre("4 KiB", "-", "cudaMalloc: no memory", "-"));
  EXPECT_THAT(rows[1], Contains("1 MiB")) << "larger sizes were measured";
}

TEST(TransferExperiment, says_what_it_cannot_measure_without_a_gpu) {
  const ExperimentResult result = bench_transfer(without_gpu(), smallest());
  ASSERT_THAT(result.tables, SizeIs(2));
  EXPECT_THAT(result.tables[0].notes, Contains(HasSubstr("none in this test")));
  EXPECT_THAT(texts(result.tables[0]), Each(Contains(HasSubstr("in memory of the host"))));
  EXPECT_THAT(result.tables[0].lesson, HasSubstr("A core copies 1 MiB at"));
}

TEST(RooflineExperiment, compares_kernels_with_the_peaks_of_their_device) {
  const ExperimentResult result = bench_roofline(devices_with({{.name = "fast"}}), smallest());
  EXPECT_TRUE(result.is_right);
  ASSERT_THAT(result.tables, SizeIs(2));
  EXPECT_THAT(texts(result.tables[0]), Contains(ElementsAre("GPU", "1,000,000", "1,000,000",
                                                            "1,000,000", "1,000,000", "1.00")));
  // A sum needs 1 operation for 12 bytes, and is said to take 1 ns.
  EXPECT_THAT(texts(result.tables[1]),
              Contains(ElementsAre("1,048,576 elements", "GPU, fast", "0.0833",
                                   StartsWith("1,048,576 ("), "memory", "1,258")));
  EXPECT_THAT(texts(result.tables[1]), Contains(ElementsAre("256 × 256 × 256, float64", "GPU, fast",
                                                            "21.3", _, "float64", _)));
  EXPECT_THAT(result.tables[0].lesson, HasSubstr("The GPU can do 1.00 operations"));
  EXPECT_THAT(result.tables[1].lesson, HasSubstr("The GPU has a balance of 1.00"));
  ASSERT_THAT(result.tables[1].plots, SizeIs(1));
  for (const html::PlotSeries& series : result.tables[1].plots[0].series) {
    for (const auto& [intensity, rate] : series.points)
      EXPECT_TRUE(series.style == html::PlotSeries::Style::line || intensity < 20 || intensity > 22)
          << "a product in float64 is not below the roof of float32";
  }
}

TEST(RooflineExperiment, names_operations_and_points_in_the_plot) {
  const html::Plot plot = bench_roofline(without_gpu(), smallest()).tables[1].plots.at(0);
  std::vector<std::string> marks;
  for (const html::PlotMark& mark : plot.marks) marks.push_back(mark.label);
  EXPECT_THAT(marks,
              ElementsAre("a + b", "A b", "U diag(s) V', k = 16", "U diag(s) V', k = 128", "A B"));
  for (const html::PlotSeries& series : plot.series) {
    if (series.style != html::PlotSeries::Style::points) continue;
    EXPECT_THAT(series.names, SizeIs(series.points.size()));
  }
  EXPECT_THAT(plot.series.at(1).names, Contains("256 × 256, k = 16, CPU, OpenBLAS, 1 core"));
}

TEST(BandwidthExperiment, shows_and_explains_the_traffic_without_a_gpu) {
  const ExperimentResult result = bench_bandwidth(without_gpu(), smallest());
  ASSERT_THAT(result.tables, SizeIs(1));
  EXPECT_THAT(result.tables[0].lesson, HasSubstr("OpenBLAS reads and writes"));
  ASSERT_THAT(result.tables[0].plots, SizeIs(2));
  const html::PlotSeries& sums = result.tables[0].plots[0].series.at(0);
  ASSERT_THAT(sums.points, SizeIs(2));
  EXPECT_DOUBLE_EQ(sums.points[0].first, 3 * 4 * 65536 / 1e6) << "MB of three vectors";
}

TEST(BandwidthExperiment, compares_neighbors_with_rows_on_a_gpu) {
  const ExperimentResult result = bench_bandwidth(
      devices_with({{.name = "thread per row"}, {.name = "warp per row"}}), smallest());
  EXPECT_THAT(result.tables[0].lesson, HasSubstr("is 1.0 times as fast"));
}

TEST(StreamsExperiment, compares_schedules_and_refuses_wrong_images) {
  const ExperimentResult result = bench_streams(with_backends(devices_with({})), smallest());
  ASSERT_THAT(result.tables, SizeIs(2));
  EXPECT_FALSE(result.is_right);
  EXPECT_THAT(texts(result.tables[0]),
              AllOf(Contains(ElementsAre("8 of 64 × 64, k = 4", "GPU, double-buffered", "1.00 ms",
                                         "8,000", "3.00", "50.0", "25.0", "90.0", "60.0")),
                    Contains(AllOf(Contains("GPU, 2 streams"), Contains("its result is wrong")))));
  EXPECT_THAT(result.tables[0].lesson,
              AllOf(HasSubstr("is 3.0 times as fast as image after image"), HasSubstr("90 %")));
}

TEST(StreamsExperiment, says_which_schedules_do_not_fit_into_memory) {
  const ExperimentResult result = bench_streams(with_backends(devices_with({})), smallest());
  for (const std::string name : {"GPU, pageable, image after image", "GPU, pageable, 4 streams"})
    EXPECT_THAT(texts(result.tables[0]),
                Contains(AllOf(Contains(name), Contains("cudaMalloc: no memory for 2 GiB"))));
}

TEST(StreamsExperiment, has_only_rows_of_the_cpu_without_a_gpu) {
  const ExperimentResult result = bench_streams(with_backends(without_gpu()), smallest());
  EXPECT_TRUE(result.is_right);
  EXPECT_THAT(texts(result.tables[0]), Each(Contains(HasSubstr("CPU, "))));
}

TEST(LanesExperiment, compares_streams_and_batches_with_image_after_image) {
  const ExperimentResult result = bench_lanes(with_backends(devices_with({})), smallest());
  EXPECT_TRUE(result.is_right);
  const Table& table = result.tables.at(0);
  EXPECT_THAT(texts(table),
              AllOf(Contains(ElementsAre("8 of 64 × 64, k = 4", "GPU, image after image", _, _,
                                         "1.00", "0", "60.0", "0", "0")),
                    Contains(Contains("GPU, one batched call")),
                    Contains(Contains("CPU, image after image, 1 core"))));
  EXPECT_THAT(table.lesson, AllOf(HasSubstr("streams are up to"), HasSubstr("batches")));
}

TEST(LanesExperiment, computes_on_one_core_and_on_all) {
  Devices devices = with_backends(without_gpu());
  devices.cores = 2;
  std::vector<int> lanes;
  devices.make_cpu_backend =
      [&, make = devices.make_cpu_backend](const compute::BackendOptions& options) {
        auto backend = make(options);
        if (options.solver == SolverKind::automatic) lanes.push_back(backend->lanes());
        return backend;
      };
  const ExperimentResult result = bench_lanes(devices, smallest());
  ASSERT_THAT(lanes, SizeIs(testing::Ge(2U)));
  EXPECT_EQ(lanes[0], 1);
  EXPECT_EQ(lanes[1], 2);
  EXPECT_THAT(texts(result.tables.at(0)), Contains(Contains("CPU, an image on each of 2 cores")));
}

TEST(LanesExperiment, refuses_wrong_images) {
  const ExperimentResult result =
      bench_lanes(with_backends(devices_with({}), {.is_wrong = true}), smallest());
  EXPECT_FALSE(result.is_right);
  EXPECT_THAT(texts(result.tables.at(0)), Contains(Contains("its result is wrong")));
}

TEST(SolverExperiment, compares_the_solvers_of_both_devices) {
  const ExperimentResult result = bench_solvers(with_backends(devices_with({})), smallest());
  EXPECT_TRUE(result.is_right);
  EXPECT_THAT(
      texts(result.tables[0]),
      AllOf(Contains(ElementsAre("1 of 64 × 64, k = 8", "CPU, 1 core", "gesvd", _, _, _, "0")),
            Contains(Contains("auto: subspace")),
            Contains(ElementsAre(_, "GPU", "gram", _, _, _, _))));
  EXPECT_THAT(result.tables[0].lesson,
              AllOf(HasSubstr("times as fast as gesvd, which computes all singular vectors"),
                    HasSubstr("The GPU (")));
}

TEST(SolverExperiment, refuses_wrong_images_and_says_if_memory_is_too_small) {
  const ExperimentResult wrong =
      bench_solvers(with_backends(devices_with({}), {.is_wrong = true}), smallest());
  EXPECT_FALSE(wrong.is_right);
  EXPECT_THAT(texts(wrong.tables[0]),
              Contains(ElementsAre(_, "GPU", "gram", "its result is wrong", "-", "-", _)));
  const ExperimentResult small =
      bench_solvers(with_backends(devices_with({}), {.is_too_small = true}), smallest());
  EXPECT_TRUE(small.is_right);
  EXPECT_THAT(texts(small.tables[0]),
              Contains(ElementsAre(_, "GPU", "gram", "no memory for 3 GiB", "-", "-", "-")));
}

TEST(SolverExperiment, shows_the_loss_of_peers) {
  Devices devices = with_backends(without_gpu());
  devices.peers = std::make_unique<FakePeers>();
  const ExperimentResult result = bench_solvers(devices, smallest());
  EXPECT_TRUE(result.is_right);
  EXPECT_THAT(
      texts(result.tables[0]),
      AllOf(Contains(ElementsAre(_, "CPU, 1 core", "black", "1.00 us", "1,000,000", _, Not("0"))),
            Contains(ElementsAre(_, "CPU, 1 core", "failing", "MemoryError: no memory", "-", "-",
                                 "-"))));
}

TEST(MeasuredBatches, predicts_larger_batches_of_the_same_size_and_rank) {
  constexpr double kMaxCallS = 1;
  constexpr int kCores = 16;
  MeasuredBatches measured(kMaxCallS, kCores);
  const ImageBatch large{.images = 1024, .n = 256, .k = 20};
  measured.add("GPU", "gesvd", {.images = kCores - 1, .n = 256, .k = 20}, 0.5);
  EXPECT_EQ(measured.reason_to_skip("GPU", "gesvd", large), "") << "too few say nothing";
  measured.add("GPU", "gesvd", {.images = 64, .n = 256, .k = 20}, 0.5);
  EXPECT_EQ(measured.reason_to_skip("GPU", "gesvd", large), "would take about 8.00 s");
  EXPECT_EQ(measured.reason_to_skip("GPU", "gesvd", {.images = 255, .n = 256, .k = 20}), "");
  EXPECT_EQ(measured.reason_to_skip("GPU", "gesvd", {.images = 1024, .n = 256, .k = 10}), "");
  EXPECT_EQ(measured.reason_to_skip("GPU", "gram", large), "");
  EXPECT_EQ(measured.reason_to_skip("CPU", "gesvd", large), "");
}

TEST(SolverExperiment, says_what_it_cannot_measure_without_a_gpu) {
  const ExperimentResult result = bench_solvers(with_backends(without_gpu()), smallest());
  EXPECT_THAT(result.tables[0].notes, Contains(HasSubstr("none in this test")));
  EXPECT_THAT(texts(result.tables[0]),
              AllOf(Each(Contains("CPU, 1 core")), Contains(Contains("gesvdj"))));
  EXPECT_THAT(result.tables[0].lesson, HasSubstr("need not compute what the rank leaves out"));
}

TEST(CrossoverExperiment, compares_first_and_later_calls_of_both_devices) {
  Devices devices = with_backends(devices_with({}));
  devices.gpu_start_s = 100;
  const ExperimentResult result = bench_crossover(devices, smallest());
  EXPECT_TRUE(result.is_right);
  ASSERT_THAT(result.tables[0].rows, SizeIs(4));
  const std::vector<std::string> row = texts(result.tables[0])[0];
  EXPECT_THAT(row, ElementsAre("32 × 32, k = 2", "1", _, _, "1.00 us ±50 %", _, _, _, _, _));
  EXPECT_GT(std::get<double>(result.tables[0].rows[0][8]), 100e6) << "with the start";
  EXPECT_THAT(result.tables[0].lesson, HasSubstr("For images of 32 × 32 the GPU is"));
}

TEST(CrossoverExperiment, refuses_wrong_images) {
  const ExperimentResult result =
      bench_crossover(with_backends(devices_with({}), {.is_wrong = true}), smallest());
  EXPECT_FALSE(result.is_right);
  EXPECT_THAT(texts(result.tables[0]), Contains(Contains("its result is wrong")));
}

TEST(CrossoverExperiment, has_only_the_cpu_without_a_gpu) {
  const ExperimentResult result = bench_crossover(with_backends(without_gpu()), smallest());
  EXPECT_THAT(result.tables[0].notes, Contains(HasSubstr("none in this test")));
  EXPECT_THAT(texts(result.tables[0]), AllOf(SizeIs(4), Each(ElementsAre(_, _, _, _)),
                                             Contains(ElementsAre("64 × 64, k = 4", "4", _, _))));
  ASSERT_THAT(result.tables[0].plots, SizeIs(1));
  EXPECT_THAT(result.tables[0].plots[0].series, SizeIs(2)) << "a line for each size";
}

TEST(CrossoverExperiment, explains_the_smallest_and_the_largest_images) {
  const std::string lesson =
      bench_crossover(with_backends(devices_with({})), smallest()).tables.at(0).lesson;
  EXPECT_THAT(lesson, AllOf(HasSubstr("For images of 32 × 32 the GPU is"),
                            HasSubstr("For images of 64 × 64 the GPU is")));
  EXPECT_THAT(bench_crossover(with_backends(without_gpu()), smallest()).tables.at(0).lesson,
              AnyOf(HasSubstr("In no batch did an image take less time"),  // on a busy machine
                    HasSubstr("times as long alone as in a batch of 4, whose images are on all")));
}

}  // namespace
}  // namespace eckart::bench
