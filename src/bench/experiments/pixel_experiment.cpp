#include "bench/experiments/pixel_experiment.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <memory>
#include <set>
#include <span>
#include <utility>

#include "compute/out_of_memory.hpp"
#include "text/format_number.hpp"

namespace eckart::bench {
namespace {

/// A variant, and what was measured of it.
struct PixelRow {
  PixelVariant variant;
  bool is_right = true;
  std::string not_measured = {};  ///< why; empty: it was
  MeasuredTimes times = {};
};

/// A batch, and what was measured of it.
struct PixelBatch {
  BatchShape shape{};
  std::vector<PixelRow> rows{};
  std::string no_memory{};  ///< why it was not measured; empty: it was
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
      if (!rows[i].is_right) rows[i].not_measured = kWrongResult;
    }
  }
}

/// Measures all variants once; the first time, it checks their results before. Throws
/// compute::OutOfMemory.
void measure_variants(Gpu& gpu, PixelBatch& batch, std::size_t pass,
                      const ExperimentOptions& options) {
  const std::unique_ptr<PixelReconstruction> prepared = gpu.prepare_pixels(batch.shape);
  if (batch.rows.empty()) {
    std::vector<PixelRow> rows;
    for (const PixelVariant& variant : prepared->variants()) rows.push_back({variant});
    check(batch.shape, *prepared, rows);
    batch.rows = std::move(rows);
  }
  std::vector<SampledWork> works;
  for (std::size_t i = 0; i < batch.rows.size(); ++i) {
    if (!batch.rows[i].not_measured.empty()) continue;
    const TimedWork work = [&prepared, i] { return std::vector{prepared->run(i)}; };
    PixelRow& row = batch.rows[i];
    works.push_back({with_clock(work, options), &row.times, &row.not_measured});
  }
  sample(works, pass, options);
}

/// The row of this kind and precision; null if it was not measured.
const PixelRow* find(const std::vector<PixelRow>& rows, PixelVariant::Kind kind, bool is_float64) {
  for (const PixelRow& row : rows) {
    if (row.variant.kind == kind && row.variant.is_float64 == is_float64)
      return row.times.is_measured() ? &row : nullptr;
  }
  return nullptr;
}

/// The same. If the memory is too small in the first pass, the batch says so.
void measure(Gpu& gpu, PixelBatch& batch, std::size_t pass, const ExperimentOptions& options) {
  if (!batch.no_memory.empty()) return;
  try {
    measure_variants(gpu, batch, pass, options);
  } catch (const compute::OutOfMemory& error) {
    if (batch.rows.empty()) batch.no_memory = error.what();
  }
}

/// How much faster one kernel is than the library in this precision; empty if it was not measured.
std::string speedup(const std::vector<PixelRow>& rows, bool is_float64) {
  const PixelRow* kernel = find(rows, PixelVariant::Kind::one_kernel, is_float64);
  const PixelRow* library = find(rows, PixelVariant::Kind::library, is_float64);
  if (!kernel || !library) return {};
  return text::format_number(ratio(library->times.passes[0], kernel->times.passes[0]).median);
}

std::vector<Cell> cells_of(const BatchShape& shape, const std::vector<PixelRow>& rows,
                           const PixelRow& row) {
  std::vector<Cell> cells = {shape.text(), row.variant.name};
  if (!row.not_measured.empty()) {
    cells.emplace_back(NotMeasured{row.not_measured});
    cells.resize(5);
    return cells;
  }
  const Estimate seconds = row.times.time(0).with_resolution(kEventResolutionSeconds);
  const PixelRow* library = find(rows, PixelVariant::Kind::library, row.variant.is_float64);
  cells.emplace_back(microseconds(seconds));
  cells.emplace_back(
      rate(2e-9 * double(shape.pixel_count()) * shape.k * shape.images, seconds).median);
  cells.push_back(library ? Cell(ratio(library->times.passes[0], row.times.passes[0])) : Cell());
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
  std::vector<PixelBatch> batches;
  std::vector<std::string> names;
  for (const int side : sides) {
    const int images = std::clamp(kPixels / (side * side), 1, 64);
    for (const int k : ranks) {
      const BatchShape shape{
          .images = options.extent == Extent::smallest ? 2 : images, .m = side, .n = side, .k = k};
      batches.push_back({.shape = shape});
      names.push_back(shape.text());
    }
  }
  const std::size_t complete = measure_in_passes(
      options, "pixels", names,
      [&](std::size_t i, std::size_t pass) { measure(*devices.gpu, batches[i], pass, options); });
  for (const PixelBatch& batch : std::span(batches).first(complete)) {
    if (!batch.no_memory.empty())
      table.add_row({batch.shape.text(), Cell(), NotMeasured{batch.no_memory}, Cell(), Cell()});
    for (const PixelRow& row : batch.rows) {
      table.add_row(cells_of(batch.shape, batch.rows, row));
      result.is_right = result.is_right && row.is_right;
    }
    if (std::string text = lesson(batch.shape, batch.rows); !text.empty())
      table.lesson = std::move(text);
  }
  table.notes = {
      std::string("Times are of all images of a batch, with empty caches, by events of the GPU. ") +
          kIntervalNote + " Speedup compares with cuBLAS in the same precision.",
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
