#include "bench/experiments/pixel_experiment.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <memory>
#include <set>
#include <span>
#include <utility>

#include "bench/cpu/cpu_batch.hpp"
#include "compute/out_of_memory.hpp"
#include "text/format_count.hpp"
#include "text/format_number.hpp"

namespace eckart::bench {
namespace {

/// A variant, and what was measured of it.
struct PixelRow {
  PixelVariant variant;
  bool is_right = true;
  double other_pixels = 0;        ///< the share of pixels that differ from float64, by one level
  double shortest_s = 0;          ///< by the ceilings of the device
  std::string not_measured = {};  ///< why; empty: it was
  MeasuredTimes times = {};       ///< of CallTimes: compute_s, total_s, copy_in_s, copy_out_s

  std::string name() const {
    if (variant.is_on_gpu()) return "GPU, " + variant.name;
    return fmt::format("CPU, {}, {}", variant.name, text::format_count(variant.cores, "core"));
  }
  Estimate time(std::size_t which) const {
    return times.time(which).with_resolution(variant.is_on_gpu() ? kEventResolutionSeconds : 0);
  }
};

/// The rows of a batch on one device.
struct PixelRows {
  std::vector<PixelRow> rows{};
  std::string no_memory{};  ///< why there are none; empty: there are
};

struct PixelBatch {
  BatchShape shape{};
  PixelRows gpu{}, cpu{};

  std::vector<const PixelRow*> rows() const {
    std::vector<const PixelRow*> all;
    for (const PixelRows* device : {&gpu, &cpu}) {
      for (const PixelRow& row : device->rows) all.push_back(&row);
    }
    return all;
  }
};

double share_of_others(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b) {
  std::size_t others = 0;
  for (std::size_t i = 0; i < a.size(); ++i) others += a[i] != b[i] ? 1 : 0;
  return double(others) / double(a.size());
}

/// Compares the first and the last image with float64, and the errors with those of the pixels.
void check(const BatchShape& shape, PixelReconstruction& batch, std::vector<PixelRow>& rows) {
  for (const int image : std::set{0, shape.images - 1}) {
    const std::vector<std::uint8_t> original = original_pixels(shape, image);
    const std::vector<std::uint8_t> reference =
        reference_pixels(shape, random_factors(shape, image));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const ReconstructedPixels found = batch.result(i, image);
      PixelRow& row = rows[i];
      row.other_pixels = std::max(row.other_pixels, share_of_others(found.pixels, reference));
      row.is_right = row.is_right && are_right(found.pixels, reference) &&
                     found.squared_error == squared_difference(found.pixels, original);
      if (!row.is_right) row.not_measured = kWrongResult;
    }
  }
}

/// Makes the rows and checks their results, the first time. Appends the works of rows that can be
/// measured; `batch` must outlive them.
void append_works(PixelReconstruction& batch, const BatchShape& shape, Device& device,
                  PixelRows& rows, const ExperimentOptions& options,
                  std::vector<SampledWork>& works) {
  if (rows.rows.empty()) {
    std::vector<PixelRow> made;
    for (const PixelVariant& variant : batch.variants()) {
      Variant of_device;
      of_device.cores = variant.cores;
      made.push_back({.variant = variant,
                      .shortest_s = shortest_time(shape, variant, device.ceilings(of_device))});
    }
    check(shape, batch, made);
    rows.rows = std::move(made);
  }
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    PixelRow& row = rows.rows[i];
    if (!row.not_measured.empty()) continue;
    const TimedWork work = [&batch, i] {
      const CallTimes times = batch.run(i);
      return std::vector{times.compute_s, times.total_s, times.copy_in_s, times.copy_out_s};
    };
    works.push_back({row.variant.is_on_gpu() ? with_clock(work, options) : work, &row.times,
                     &row.not_measured});
  }
}

/// Measures all variants once; the first time, it checks their results before. If the memory of the
/// GPU is too small in the first pass, its rows say so.
void measure(const Devices& devices, PixelBatch& batch, std::size_t pass,
             const ExperimentOptions& options) {
  std::unique_ptr<PixelReconstruction> on_gpu;
  std::vector<SampledWork> works;
  if (devices.gpu && batch.gpu.no_memory.empty()) {
    try {
      on_gpu = devices.gpu->prepare_pixels(batch.shape);
      append_works(*on_gpu, batch.shape, *devices.gpu, batch.gpu, options, works);
    } catch (const compute::OutOfMemory& error) {
      if (batch.gpu.rows.empty()) batch.gpu.no_memory = error.what();
    }
  }
  const std::unique_ptr<PixelReconstruction> on_cpu = make_cpu_pixels(batch.shape, devices.cores);
  append_works(*on_cpu, batch.shape, *devices.cpu, batch.cpu, options, works);
  sample(works, pass, options);
}

/// The row of this kind and precision; null if it was not measured.
const PixelRow* find(const PixelRows& rows, PixelVariant::Kind kind, bool is_float64) {
  for (const PixelRow& row : rows.rows) {
    if (row.variant.kind == kind && row.variant.is_float64() == is_float64)
      return row.times.is_measured() ? &row : nullptr;
  }
  return nullptr;
}

/// The fastest measured row; null if there is none.
const PixelRow* fastest(const PixelRows& rows) {
  const PixelRow* fastest = nullptr;
  for (const PixelRow& row : rows.rows) {
    if (!row.times.is_measured()) continue;
    if (!fastest || row.time(0).median < fastest->time(0).median) fastest = &row;
  }
  return fastest;
}

/// How much faster one kernel is than the library in this precision; empty if it was not measured.
std::string speedup(const PixelRows& rows, bool is_float64) {
  const PixelRow* kernel = find(rows, PixelVariant::Kind::one_kernel, is_float64);
  const PixelRow* library = find(rows, PixelVariant::Kind::library, is_float64);
  if (!kernel || !library) return {};
  return text::format_ratio(ratio(library->times.passes[0], kernel->times.passes[0]).median);
}

std::vector<Column> columns() {
  return {{"batch", "batch", ""},
          {"variant", "variant", ""},
          {"other_pixels_percent", "other pixels", "%"},
          {"time_us", "time", "us", true},
          {"gflop_per_s", "rate", "GFLOP/s"},
          {"gb_per_s", "traffic", "GB/s"},
          {"roofline_percent", "roofline", "%"},
          {"occupancy_percent", "occupancy", "%"},
          {"copy_in_us", "copy in", "us"},
          {"copy_out_us", "copy out", "us"},
          {"total_us", "total", "us", true},
          {"speedup", "speedup", "× cuBLAS"},
          {"speedup_over_cpu", "speedup", "× CPU"},
          {"speedup_with_copies", "with copies", "× CPU"}};
}

std::vector<Cell> cells_of(const PixelBatch& batch, const PixelRow& row) {
  std::vector<Cell> cells = {batch.shape.text(), row.name(), 100 * row.other_pixels};
  if (!row.not_measured.empty()) {
    cells.emplace_back(NotMeasured{row.not_measured});
    cells.resize(columns().size());
    return cells;
  }
  const bool is_on_gpu = row.variant.is_on_gpu();
  const auto on_gpu = [&](const Cell& cell) { return is_on_gpu ? cell : Cell(); };
  const PixelRow* library =
      is_on_gpu ? find(batch.gpu, PixelVariant::Kind::library, row.variant.is_float64()) : nullptr;
  const PixelRow* cpu = fastest(batch.cpu);
  const auto compared = [&](const PixelRow* other, std::size_t which) {
    return other ? Cell(ratio(other->times.passes[0], row.times.passes[which])) : Cell();
  };
  const Estimate seconds = row.time(0);
  cells.insert(cells.end(),
               {microseconds(seconds), rate(1e-9 * pixel_flops(batch.shape), seconds).median,
                rate(1e-9 * pixel_bytes(batch.shape, row.variant), seconds).median,
                percent(row.shortest_s / seconds.median), percent(row.variant.occupancy),
                on_gpu(microseconds(row.time(2))), on_gpu(microseconds(row.time(3))),
                on_gpu(microseconds(row.times.time(1))), compared(library, 0), compared(cpu, 0),
                on_gpu(compared(cpu, 1))});
  return cells;
}

constexpr int kMaxLessonRank = 32;  // runs use one kernel in both precisions

std::string lesson(const PixelBatch& batch) {
  const std::string float32 = speedup(batch.gpu, false), float64 = speedup(batch.gpu, true);
  if (batch.shape.k > kMaxLessonRank || float32.empty() || float64.empty()) return {};
  return fmt::format(
      "With {}, one kernel that multiplies, rounds and compares is {} times as fast in 3 × float16 "
      "as cuBLAS in float32 and a kernel that rounds, and {} times in float64. It need not write "
      "the product and read it again, which matters less with more columns.",
      batch.shape.text(), float32, float64);
}

/// The same without a GPU.
std::string cpu_lesson(const PixelBatch& batch) {
  const PixelRow* row = fastest(batch.cpu);
  if (!row || batch.shape.k > kMaxLessonRank) return {};
  return fmt::format(
      "With {}, OpenBLAS, rounding and comparing on {} reach {:.0f} % of the roofline of the "
      "product, which does not count that pixels are written and read several times.",
      batch.shape.text(), text::format_count(row->variant.cores, "core"),
      100 * row->shortest_s / row->time(0).median);
}

}  // namespace

ExperimentResult bench_pixels(const Devices& devices, const ExperimentOptions& options) {
  ExperimentResult result;
  Table table{
      .name = "pixels",
      .title = "Reconstruction to 8-bit pixels and their squared errors, from given factors",
      .columns = columns(),
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
      [&](std::size_t i, std::size_t pass) { measure(devices, batches[i], pass, options); });
  for (const PixelBatch& batch : std::span(batches).first(complete)) {
    if (!batch.gpu.no_memory.empty()) {
      std::vector<Cell> cells = {batch.shape.text(), "GPU", Cell(),
                                 NotMeasured{batch.gpu.no_memory}};
      cells.resize(table.columns.size());
      table.add_row(std::move(cells));
    }
    for (const PixelRow* row : batch.rows()) {
      table.add_row(cells_of(batch, *row));
      result.is_right = result.is_right && row->is_right;
    }
    if (std::string text = devices.gpu ? lesson(batch) : cpu_lesson(batch); !text.empty())
      table.lesson = std::move(text);
  }
  table.remove_empty_columns();
  table.notes = {
      std::string("Times are of all images of a batch. ") + kIntervalNote +
          " Other pixels are those that differ from float64, by one level: their exact value is in "
          "the middle of two.",
      "Before they were measured, the first and the last image were compared with float64, and "
      "their errors with those of the pixels."};
  if (devices.gpu) {
    table.notes.insert(
        table.notes.begin() + 1,
        {"GPU: time is that of the kernels with empty caches, by events. Total has the copies of "
         "factors from pinned memory and of pixels to it. Speedup compares with cuBLAS in the same "
         "precision, and with the fastest row of the CPU.",
         "3 × float16: three products of float16, summed in float32, are as accurate as float32. "
         "Runs use that kernel if they decompose in float16 (up to about 190 columns), and the one "
         "of float64 up to rank 32, for ranks by quality, and after a complete decomposition. "
         "Otherwise they use cuBLAS. The rows with cuBLAS write the product, and another kernel "
         "rounds it."});
  } else {
    table.notes.push_back(
        without_gpu_note("the rows of the GPU, and copies", devices.no_gpu_reason));
  }
  result.tables.push_back(std::move(table));
  return result;
}

}  // namespace eckart::bench
