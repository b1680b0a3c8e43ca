#include "bench/experiments/pixel_experiment.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "compute/out_of_memory.hpp"
#include "text/format_number.hpp"

namespace eckart::bench {
namespace {

/// A variant, and what was measured of it.
struct PixelRow {
  PixelVariant variant;
  bool is_right = false;
  std::vector<double> samples = {};
};

/// Compares the first and the last image with float64, and the errors with those of the pixels.
void check(const BatchShape& shape, PixelReconstruction& batch, std::vector<PixelRow>& rows) {
  for (const int image : std::set{0, shape.images - 1}) {
    const std::vector<std::uint8_t> original = original_pixels(shape, image);
    const std::vector<std::uint8_t> reference =
        reference_pixels(shape, random_factors(shape, image));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const ReconstructedPixels found = batch.result(i, image);
      rows[i].is_right = rows[i].is_right && are_right(found.pixels, reference) &&
                         found.squared_error == squared_difference(found.pixels, original);
    }
  }
}

void measure(PixelReconstruction& batch, std::vector<PixelRow>& rows,
             const ExperimentOptions& options) {
  std::vector<TimedWork> works;
  std::vector<PixelRow*> measured;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].is_right) continue;
    works.push_back(with_clock([&batch, i] { return std::vector{batch.run(i)}; }, options));
    measured.push_back(&rows[i]);
  }
  const std::vector<Samples> samples = sample(works, options);
  for (std::size_t i = 0; i < measured.size(); ++i) {
    if (samples[i].is_measured()) measured[i]->samples = samples[i].times.front();
  }
}

/// The row of this kind and precision; null if it was not measured.
const PixelRow* find(const std::vector<PixelRow>& rows, PixelVariant::Kind kind, bool is_float64) {
  for (const PixelRow& row : rows) {
    if (row.variant.kind == kind && row.variant.is_float64 == is_float64)
      return row.samples.empty() ? nullptr : &row;
  }
  return nullptr;
}

/// How much faster one kernel is than the library in this precision; empty if it was not measured.
std::string speedup(const std::vector<PixelRow>& rows, bool is_float64) {
  const PixelRow* kernel = find(rows, PixelVariant::Kind::one_kernel, is_float64);
  const PixelRow* library = find(rows, PixelVariant::Kind::library, is_float64);
  if (!kernel || !library) return {};
  return text::format_number(ratio(library->samples, kernel->samples).median);
}

std::vector<Cell> cells_of(const BatchShape& shape, const std::vector<PixelRow>& rows,
                           const PixelRow& row, const ExperimentOptions& options) {
  std::vector<Cell> cells = {shape.text(), row.variant.name};
  if (row.samples.empty()) {
    cells.emplace_back(NotMeasured{row.is_right ? too_slow(options) : kWrongResult});
    cells.resize(5);
    return cells;
  }
  const Estimate seconds = estimate(row.samples);
  const PixelRow* library = find(rows, PixelVariant::Kind::library, row.variant.is_float64);
  cells.emplace_back(microseconds(seconds));
  cells.emplace_back(
      rate(2e-9 * double(shape.pixel_count()) * shape.k * shape.images, seconds).median);
  cells.push_back(library ? Cell(ratio(library->samples, row.samples)) : Cell());
  return cells;
}

std::string lesson(const BatchShape& shape, const std::vector<PixelRow>& rows) {
  constexpr int kMaxRank = 32;  // runs use one kernel in both precisions
  const std::string float32 = speedup(rows, false), float64 = speedup(rows, true);
  if (shape.k > kMaxRank || float32.empty() || float64.empty()) return {};
  return fmt::format(
      "With {}, one kernel that multiplies, rounds and compares is {} times as fast in 3 × float16 "
      "as cuBLAS in float32 and a kernel that rounds, and {} times in float64. It need not write "
      "the product and read it again, which matters less with more columns.",
      shape.text(), float32, float64);
}

}  // namespace

ExperimentResult bench_pixels(const Devices& devices, const ExperimentOptions& options) {
  ExperimentResult result;
  if (!devices.gpu) return result;
  Table table{
      .name = "pixels",
      .title = "Reconstruction to 8-bit pixels and their squared errors, factors on the GPU",
      .columns = {{"batch", "batch", ""},
                  {"variant", "variant", ""},
                  {"time_us", "time", "us", true},
                  {"gflop_per_s", "rate", "GFLOP/s"},
                  {"speedup", "speedup", "× cuBLAS"}},
      .rows = {}};
  constexpr int kPixels = 1 << 24;  // of a batch
  const std::vector<int> sides = sizes<int>(options, {512, 1024, 2048, 4096}, {512, 1024}, {64});
  const std::vector<int> ranks = sizes<int>(options, {16, 32, 64, 128, 256, 512}, {16, 32, 128});
  Progress progress(options, "pixels", sides.size() * ranks.size());
  for (const int side : sides) {
    const int images = std::clamp(kPixels / (side * side), 1, 64);
    for (const int k : ranks) {
      const BatchShape shape{
          .images = options.extent == Extent::smallest ? 2 : images, .m = side, .n = side, .k = k};
      if (options.stop.stop_requested()) break;
      progress.next(shape.text());
      std::vector<PixelRow> rows;
      try {
        const std::unique_ptr<PixelReconstruction> batch = devices.gpu->prepare_pixels(shape);
        for (const PixelVariant& variant : batch->variants()) rows.push_back({variant, true});
        check(shape, *batch, rows);
        measure(*batch, rows, options);
      } catch (const compute::OutOfMemory& error) {
        table.add_row({shape.text(), Cell(), NotMeasured{error.what()}, Cell(), Cell()});
        continue;
      }
      if (options.stop.stop_requested()) break;
      for (const PixelRow& row : rows) {
        table.add_row(cells_of(shape, rows, row, options));
        result.is_right = result.is_right && row.is_right;
      }
      if (std::string text = lesson(shape, rows); !text.empty()) table.lesson = std::move(text);
    }
  }
  table.notes = {
      "Times are of all images of a batch, with empty caches, by events of the GPU. ± is the 95 % "
      "interval of the median. Speedup compares with cuBLAS in the same precision.",
      "3 × float16: three products of float16, summed in float32, are as accurate as float32. Runs "
      "use that kernel if they decompose in float16 (up to about 190 columns), and the one of "
      "float64 up to rank 32, for ranks by quality, and after a complete decomposition. Otherwise "
      "they use cuBLAS. The rows with cuBLAS write the product, and another kernel rounds it.",
      "Before they were measured, the first and the last image were compared with float64, and "
      "their errors with those of the pixels."};
  result.tables.push_back(std::move(table));
  return result;
}

}  // namespace eckart::bench
