#include "bench/experiments/crossover_experiment.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "bench/experiments/backend_batch.hpp"
#include "compute/out_of_memory.hpp"
#include "core/quality.hpp"
#include "text/format_duration.hpp"
#include "text/format_number.hpp"

namespace eckart::bench {
namespace {

/// A batch on the CPU or the GPU, and what was measured.
struct Side {
  std::unique_ptr<BackendBatch> batch{};  ///< during a pass
  double first_s = 0;                     ///< the first call
  std::string not_measured{};             ///< why; empty: it was
  MeasuredTimes times{};                  ///< totals, then computations

  bool is_measured() const { return times.is_measured(); }
  Estimate total_s() const { return times.time(0); }
  /// On the GPU: by its events.
  Estimate compute_s() const { return times.time(1).with_resolution(kEventResolutionSeconds); }
};

struct CrossoverRow {
  ImageBatch batch;
  Side cpu{}, gpu{};
  bool is_checked = false, is_right = true;

  bool has_both() const { return cpu.is_measured() && gpu.is_measured(); }
  Estimate speedup() const { return ratio(cpu.times.passes[0], gpu.times.passes[0]); }
  Estimate speedup_of_computing() const { return ratio(cpu.times.passes[0], gpu.times.passes[1]); }
};

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// The GPU backend, and how long it took to start; null with the reason if there is none.
struct GpuBackend {
  std::unique_ptr<compute::Backend> backend;
  std::string reason;
  double start_s = 0;
};
GpuBackend start_gpu(const Devices& devices) {
  GpuBackend gpu{.backend = {}, .reason = devices.no_gpu_reason};
  if (!devices.gpu) return gpu;
  try {
    const auto begin = std::chrono::steady_clock::now();
    gpu.backend = devices.make_gpu_backend({.trace = true});
    gpu.start_s = devices.gpu_start_s + seconds_since(begin);
  } catch (const std::exception& error) {
    gpu.reason = error.what();
  }
  return gpu;
}

/// Runs once, unless it is known that it cannot be measured.
void prepare(Side& side, compute::Backend& backend, const ImageBatch& batch) {
  if (!side.not_measured.empty()) return;
  try {
    side.batch = std::make_unique<BackendBatch>(backend, batch);
    const double call_s = side.batch->run().total_s;
    if (side.first_s == 0) side.first_s = call_s;
  } catch (const compute::OutOfMemory& error) {
    side.batch.reset();
    if (!side.is_measured()) side.not_measured = error.what();
  }
}

/// Compares the images of both with those of a solver in float64.
void check(CrossoverRow& row, compute::Backend& float64) {
  row.is_checked = true;
  const std::vector<double> optimal = scene_errors(float64, row.batch);
  for (Side* side : {&row.cpu, &row.gpu}) {
    if (!side->batch || largest_loss_db(side->batch->squared_errors(), optimal) <= kMaxLossDb)
      continue;
    row.is_right = false;
    side->batch.reset();
    side->not_measured = kWrongResult;
  }
}

void measure(CrossoverRow& row, std::size_t pass, const ExperimentOptions& options) {
  std::vector<SampledWork> works;
  for (Side* side : {&row.cpu, &row.gpu}) {
    if (!side->batch) continue;
    const TimedWork work = [side] {
      const BatchTimes times = side->batch->run();
      return std::vector{times.total_s, times.compute_s};
    };
    works.push_back(
        {side == &row.gpu ? with_clock(work, options) : work, &side->times, &side->not_measured});
  }
  sample(works, pass, options);
  for (Side* side : {&row.cpu, &row.gpu}) side->batch.reset();
}

std::vector<Cell> cells_of(const CrossoverRow& row, double gpu_start_s) {
  const auto time = [](const Side& side) {
    if (side.is_measured()) return microseconds(side.total_s());
    return side.not_measured.empty() ? Cell() : Cell(NotMeasured{side.not_measured});
  };
  const auto first = [](const Side& side, double start_s) {
    return side.first_s > 0 ? Cell(1e6 * (start_s + side.first_s)) : Cell();
  };
  std::vector<Cell> cells = {row.batch.size_text(), row.batch.images, time(row.cpu), time(row.gpu)};
  cells.push_back(row.gpu.is_measured() ? microseconds(row.gpu.compute_s()) : Cell());
  cells.push_back(row.has_both() ? Cell(row.speedup()) : Cell());
  cells.push_back(row.has_both() ? Cell(row.speedup_of_computing()) : Cell());
  cells.push_back(first(row.cpu, 0));
  cells.push_back(first(row.gpu, gpu_start_s));
  cells.push_back(row.cpu.first_s > 0 && row.gpu.first_s > 0
                      ? Cell(row.cpu.first_s / (gpu_start_s + row.gpu.first_s))
                      : Cell());
  return cells;
}

/// The smallest batch of images of n x n for which, and for all larger ones, the GPU is faster;
/// null if there is none.
const CrossoverRow* first_won(const std::vector<CrossoverRow>& rows, int n) {
  const CrossoverRow* first = nullptr;
  for (const CrossoverRow& row : rows) {
    if (row.batch.n != n || !row.has_both()) continue;
    const bool is_won = row.speedup().low > 1;
    first = !is_won ? nullptr : first ? first : &row;
  }
  return first;
}

/// From which batch on the GPU is faster for images of n x n, and why not before.
std::string winner_text(const std::vector<CrossoverRow>& rows, int n) {
  const CrossoverRow* won = first_won(rows, n);
  if (!won)
    return fmt::format("For images of {} × {} the GPU is not faster in the largest batch.", n, n);
  const double copies = 1 - won->gpu.compute_s().median / won->gpu.total_s().median;
  return fmt::format(
      "For images of {} × {} the GPU is faster from batches of {} on: {} times there, with {:.0f} "
      "% "
      "of its time in copies and waiting.",
      n, n, won->batch.images, text::format_ratio(won->speedup().median), 100 * copies);
}

/// How many images a run must have until the start of the GPU has paid off.
std::string start_text(const CrossoverRow& row, double gpu_start_s) {
  const double saved_s = (row.cpu.total_s().median - row.gpu.total_s().median) / row.batch.images;
  if (saved_s <= 0) return {};
  return fmt::format(" Its start takes {}, which pays off from {} images of {} × {} on.",
                     text::format_duration(gpu_start_s),
                     text::format_number(std::ceil(gpu_start_s / saved_s)), row.batch.n,
                     row.batch.n);
}

/// What the batches of the CPU teach, without a GPU: by the smallest images that are faster in a
/// batch.
std::string cpu_lesson(const std::vector<CrossoverRow>& rows) {
  const CrossoverRow* smallest = nullptr;  // batch of the images of the row
  const auto s_per_image = [](const CrossoverRow& row) {
    return row.cpu.total_s().median / row.batch.images;
  };
  std::string text;
  bool has_batch = false;
  for (const CrossoverRow& row : rows) {
    if (!row.cpu.is_measured()) continue;
    if (!smallest || row.batch.n != smallest->batch.n) {
      if (!text.empty()) break;
      smallest = &row;
    }
    has_batch = has_batch || &row != smallest;
    if (s_per_image(row) < s_per_image(*smallest))
      text = fmt::format(
          "An image of {} × {} takes {} times as long alone as in a batch of {}, whose images are "
          "on all cores. A GPU must beat the batch, not the single image.",
          row.batch.n, row.batch.n, text::format_ratio(s_per_image(*smallest) / s_per_image(row)),
          row.batch.images);
  }
  if (text.empty() && has_batch)
    return "In no batch did an image take less time than alone. A batch is faster if several cores "
           "are free, because each image is computed on one of them.";
  return text;
}

std::string lesson(const std::vector<CrossoverRow>& rows, double gpu_start_s) {
  const CrossoverRow* largest = nullptr;  // batch of the smallest images that both computed
  int largest_n = 0;                      // of the images that both computed
  for (const CrossoverRow& row : rows) {
    if (!row.has_both()) continue;
    if (!largest || row.batch.n == largest->batch.n) largest = &row;
    largest_n = row.batch.n;
  }
  if (!largest) return cpu_lesson(rows);
  std::string text = winner_text(rows, largest->batch.n);
  if (largest_n != largest->batch.n) text += " " + winner_text(rows, largest_n);
  return text + start_text(*largest, gpu_start_s);
}

/// The last series, which is made if that is of another size.
html::PlotSeries& series_of(const ImageBatch& batch, std::vector<html::PlotSeries>& lines) {
  constexpr std::array kColors = {"c1", "c2", "c3"};
  constexpr std::array kStyles = {html::PlotSeries::Style::line, html::PlotSeries::Style::dashed};
  const std::string label = fmt::format("{} × {}", batch.n, batch.n);
  if (lines.empty() || lines.back().label != label)
    lines.push_back({.label = label,
                     .css_class = kColors[lines.size() % kColors.size()],
                     .style = kStyles[lines.size() / kColors.size() % kStyles.size()],
                     .points = {}});
  return lines.back();
}

html::Plot speedup_plot(const std::vector<CrossoverRow>& rows) {
  std::vector<html::PlotSeries> lines;
  for (const CrossoverRow& row : rows) {
    if (row.has_both())
      series_of(row.batch, lines).points.emplace_back(row.batch.images, row.speedup().median);
  }
  return logarithmic_plot("Speedup by the GPU, with copies", "images in a batch",
                          "times as fast as the CPU", std::move(lines));
}

/// The same without a GPU.
html::Plot cpu_plot(const std::vector<CrossoverRow>& rows) {
  std::vector<html::PlotSeries> lines;
  for (const CrossoverRow& row : rows) {
    if (!row.cpu.is_measured()) continue;
    series_of(row.batch, lines)
        .points.emplace_back(row.batch.images, row.batch.images / row.cpu.total_s().median);
  }
  return logarithmic_plot("Rate of the CPU", "images in a batch", "images/s", std::move(lines));
}

/// Each size with each number of images, up to 64 million pixels.
std::vector<ImageBatch> all_batches(const ExperimentOptions& options) {
  constexpr std::int64_t kMaxPixels = 1 << 26;
  std::vector<ImageBatch> batches;
  for (const int n : sizes<int>(options, {64, 128, 256, 512, 1024, 2048}, {256, 1024}, {32, 64})) {
    for (const int images : sizes<int>(options, {1, 4, 16, 64, 256, 1024}, {1, 16}, {1, 4})) {
      if (std::int64_t(images) * n * n <= kMaxPixels)
        batches.push_back({.images = images, .n = n, .k = n / 16});
    }
  }
  return batches;
}

std::vector<CrossoverRow> measure_all(const Devices& devices, const GpuBackend& gpu,
                                      const ExperimentOptions& options) {
  const std::unique_ptr<compute::Backend> cpu = devices.make_cpu_backend({}),
                                          float64 = devices.make_cpu_backend(
                                              {.solver = SolverKind::gram});
  std::vector<CrossoverRow> rows;
  std::vector<std::string> names;
  for (const ImageBatch& batch : all_batches(options)) {
    rows.push_back({.batch = batch});
    names.push_back(batch.text());
  }
  rows.resize(measure_in_passes(options, "", names, [&](std::size_t i, std::size_t pass) {
    CrossoverRow& row = rows[i];
    prepare(row.cpu, *cpu, row.batch);
    if (gpu.backend) prepare(row.gpu, *gpu.backend, row.batch);
    if (!row.is_checked) check(row, *float64);
    measure(row, pass, options);
  }));
  return rows;
}

}  // namespace

ExperimentResult bench_crossover(const Devices& devices, const ExperimentOptions& options) {
  const GpuBackend gpu = start_gpu(devices);
  const std::vector<CrossoverRow> rows = measure_all(devices, gpu, options);
  Table table{
      .name = "crossover",
      .title = gpu.backend ? "CPU against GPU, by size and batch" : "CPU, by size and batch",
      .columns = {{"size", "size", ""},
                  {"images", "batch", "images"},
                  {"cpu_us", "CPU", "us", true},
                  {"gpu_us", "GPU", "us", true},
                  {"gpu_compute_us", "without copies", "us", true},
                  {"speedup", "speedup", ""},
                  {"speedup_without_copies", "without copies", ""},
                  {"cpu_first_us", "CPU, first call", "us"},
                  {"gpu_first_us", "GPU, with start", "us"},
                  {"first_speedup", "speedup", "first call"}},
      .rows = {}};
  ExperimentResult result;
  for (const CrossoverRow& row : rows) {
    table.add_row(cells_of(row, gpu.start_s));
    result.is_right = result.is_right && row.is_right;
  }
  table.lesson = lesson(rows, gpu.start_s);
  if (html::Plot plot = gpu.backend ? speedup_plot(rows) : cpu_plot(rows); !plot.series.empty())
    table.plots.push_back(std::move(plot));
  table.remove_empty_columns();
  table.notes = {
      std::string(
          "Truncated SVD and reconstruction of 8-bit images with the solver that a run "
          "chooses, on all cores of the CPU (an image on one) or on the GPU. Times are from "
          "pixels in the memory of the host to pixels there, by its clock. ") +
          kIntervalNote,
      fmt::format("Before they were measured, all images were compared with the optimum, from "
                  "float64. A result that loses more than {} dB is wrong.",
                  kMaxLossDb)};
  if (gpu.backend)
    table.notes.push_back(fmt::format(
        "Without copies: the time in which the GPU computes, by its clock. With start: the first "
        "call of a batch, and {} once for the libraries, the context and the solvers.",
        text::format_duration(gpu.start_s)));
  else
    table.notes.push_back(without_gpu_note(
        "from which batch on it is faster; these are the times of the CPU", gpu.reason));
  result.tables.push_back(std::move(table));
  return result;
}

}  // namespace eckart::bench
