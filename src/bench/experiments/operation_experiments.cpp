#include "bench/experiments/operation_experiments.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "bench/experiments/operation_table.hpp"
#include "bench/experiments/pixel_experiment.hpp"
#include "machine/usable_memory.hpp"
#include "text/format_count.hpp"
#include "text/format_number.hpp"

namespace eckart::bench {
namespace {

using Rows = std::vector<OperationRow>;

/// The fastest row of a shape whose variant begins with `name`; null if there is none.
const OperationRow* find(const Rows& rows, const Shape& shape, bool is_on_gpu,
                         const std::string& name) {
  return fastest(rows, [&](const OperationRow& row) {
    return row.shape == shape && row.is_on_gpu() == is_on_gpu && row.variant.name.starts_with(name);
  });
}

/// The same of the rows that use one core of the CPU.
const OperationRow* find_on_one_core(const Rows& rows, const Shape& shape,
                                     const std::string& name) {
  return fastest(rows, [&](const OperationRow& row) {
    return row.shape == shape && row.variant.cores == 1 && row.variant.name.starts_with(name);
  });
}

/// How much faster `fast` is than `slow`, such as "3.2".
std::string times_as_fast(const OperationRow* fast, const OperationRow* slow) {
  return text::format_ratio(slow->compute_s.median / fast->compute_s.median);
}

double gflop_per_s(const OperationRow& row) {
  return rate(1e-9 * row.shape.flops(), row.compute_s).median;
}

double gb_per_s(const OperationRow& row) {
  return rate(1e-9 * row.shape.bytes(), row.compute_s).median;
}

/// The class and the style of a line.
using Look = std::pair<const char*, html::PlotSeries::Style>;

/// What a plot shows of a row.
using PointOf = std::pair<double, double> (*)(const OperationRow& row);

std::pair<double, double> speed_by_side(const OperationRow& row) {
  return {row.shape.n, gflop_per_s(row)};
}

std::pair<double, double> traffic_by_megabytes(const OperationRow& row) {
  return {1e-6 * row.shape.bytes(), gb_per_s(row)};
}

/// Points of the fastest row with a variant of this name at each shape.
html::PlotSeries series(const Rows& rows, const std::vector<Shape>& shapes, PointOf point_of,
                        bool is_on_gpu, const std::string& name, const std::string& label,
                        const Look& look) {
  html::PlotSeries line{
      .label = label, .css_class = look.first, .style = look.second, .points = {}};
  for (const Shape& shape : shapes) {
    if (const OperationRow* row = find(rows, shape, is_on_gpu, name))
      line.points.push_back(point_of(*row));
  }
  return line;
}

using html::PlotSeries;
constexpr auto kLine = PlotSeries::Style::line;
constexpr auto kDashed = PlotSeries::Style::dashed;
constexpr auto kDotted = PlotSeries::Style::dotted;

/// The shapes of rank k.
std::vector<Shape> shapes_with(const std::vector<Shape>& shapes, int k) {
  std::vector<Shape> chosen;
  std::copy_if(shapes.begin(), shapes.end(), std::back_inserter(chosen),
               [&](const Shape& shape) { return shape.k == k; });
  return chosen;
}

void add_speed_plot(Table& table, const std::string& title, const Rows& rows,
                    const std::vector<Shape>& shapes) {
  const auto of = [&](bool is_on_gpu, const char* name, const char* label, const Look& look) {
    return series(rows, shapes, speed_by_side, is_on_gpu, name, label, look);
  };
  html::Plot plot = logarithmic_plot(title, "side", "GFLOP/s",
                                     {of(true, "naive", "GPU, naive", {"c1", kDotted}),
                                      of(true, "shared", "GPU, shared tiles", {"c1", kDashed}),
                                      of(true, "register", "GPU, register tiles", {"c1", kLine}),
                                      of(true, "cuBLAS", "GPU, cuBLAS", {"c3", kLine}),
                                      of(false, "OpenBLAS", "CPU, OpenBLAS", {"c2", kLine}),
                                      of(false, "loops", "CPU, loops", {"c2", kDotted})});
  if (!plot.series.empty()) table.plots.push_back(std::move(plot));
}

void add_traffic_plots(Table& table, const Rows& rows, const std::vector<Shape>& sums,
                       const std::vector<Shape>& matrices) {
  const auto of_sums = [&](bool is_on_gpu, const char* name, const char* label, const Look& look) {
    return series(rows, sums, traffic_by_megabytes, is_on_gpu, name, label, look);
  };
  const auto of = [&](bool is_on_gpu, const char* name, const char* label, const Look& look) {
    return series(rows, matrices, traffic_by_megabytes, is_on_gpu, name, label, look);
  };
  html::Plot sum = logarithmic_plot(
      "c = a + b", "MB read and written", "GB/s",
      {of_sums(true, "", "GPU", {"c1", kLine}), of_sums(false, "loop", "CPU", {"c2", kLine})});
  html::Plot product =
      logarithmic_plot("c = A b", "MB read and written", "GB/s",
                       {of(true, "thread per row", "GPU, thread per row", {"c1", kDotted}),
                        of(true, "warp per row", "GPU, warp per row", {"c1", kLine}),
                        of(true, "cuBLAS", "GPU, cuBLAS", {"c3", kLine}),
                        of(false, "OpenBLAS", "CPU, OpenBLAS", {"c2", kLine}),
                        of(false, "loops", "CPU, loops", {"c2", kDotted})});
  for (html::Plot* plot : {&sum, &product}) {
    if (!plot->series.empty()) table.plots.push_back(std::move(*plot));
  }
}

/// What the products of a matrix and a vector teach, by the largest one.
std::string bandwidth_lesson(const Rows& rows, const Shape& largest, bool has_gpu) {
  const double intensity = largest.flops() / largest.bytes();
  if (!has_gpu) {
    const OperationRow* loops = find_on_one_core(rows, largest, "loops");
    const OperationRow* blas = find_on_one_core(rows, largest, "OpenBLAS");
    const OperationRow* fastest_blas = find(rows, largest, false, "OpenBLAS");
    if (!loops || !blas) return {};
    const bool is_one_core = fastest_blas->variant.cores == 1;
    return fmt::format(
        "At {}, OpenBLAS reads and writes {} GB/s on one core, {}and plain loops {} on one. With "
        "{:.2f} operations for each byte, memory is the limit of a good program{}.{}",
        size_text(largest), text::format_number(gb_per_s(*blas)),
        is_one_core ? ""
                    : fmt::format("{} on {}, ", text::format_number(gb_per_s(*fastest_blas)),
                                  text::format_count(fastest_blas->variant.cores, "core")),
        text::format_number(gb_per_s(*loops)), intensity,
        is_one_core ? "" : ": more cores help until it is busy",
        loops->compute_s.low > blas->compute_s.high
            ? " The loops do not reach it, because each addition waits for the one before."
            : "");
  }
  const OperationRow* strided = find(rows, largest, true, "thread per row");
  const OperationRow* coalesced = find(rows, largest, true, "warp per row");
  if (!strided || !coalesced) return {};
  return fmt::format(
      "At {}, the kernel whose neighboring threads read neighboring elements is {} times as fast "
      "as the one with a row for each thread, though both read the same bytes. Neither comes near "
      "the peak of the arithmetic: with {:.2f} operations for each byte, memory decides.",
      size_text(largest), times_as_fast(coalesced, strided), intensity);
}

/// What the kernels of a product teach, by the last shape of which all of them were measured.
std::string product_lesson(const Rows& rows, const std::vector<Shape>& shapes, bool has_gpu) {
  for (auto shape = shapes.rbegin(); shape != shapes.rend(); ++shape) {
    const auto row_of = [&](bool is_on_gpu, const char* name) {
      return find(rows, *shape, is_on_gpu, name);
    };
    if (!has_gpu) {
      const OperationRow* loops = find_on_one_core(rows, *shape, "loops");
      const OperationRow* blas = find_on_one_core(rows, *shape, "OpenBLAS");
      if (!loops || !blas) continue;
      return fmt::format(
          "At {}, OpenBLAS on one core is {} times as fast as plain loops on the same data. Blocks "
          "that fit into caches and registers and vector instructions make the difference, before "
          "more cores or a GPU do.",
          size_text(*shape), times_as_fast(blas, loops));
    }
    const OperationRow *naive = row_of(true, "naive"), *shared = row_of(true, "shared");
    const OperationRow *registers = row_of(true, "register"), *library = row_of(true, "cuBLAS");
    if (!naive || !shared || !registers || !library || library->speedup.samples == 0) continue;
    const double gain_without_copies =
        library->speedup.median / library->speedup_with_copies.median;
    const double gain_of_library = naive->compute_s.median / library->compute_s.median;
    return fmt::format(
        "At {}, tiles in shared memory are {} times as fast as the naive kernel with its best "
        "block, tiles in registers {} times, and cuBLAS {} times. Compared with the fastest on the "
        "CPU, cuBLAS is {} times as fast, but {} times with the copies: here, {}.",
        size_text(*shape), times_as_fast(shared, naive), times_as_fast(registers, naive),
        times_as_fast(library, naive), text::format_ratio(library->speedup.median),
        text::format_ratio(library->speedup_with_copies.median),
        gain_without_copies > gain_of_library
            ? "data that stays on the GPU gains more than a better kernel"
            : "a better kernel gains more than data that stays on the GPU");
  }
  return {};
}

/// What the transposes teach, by the largest shape in float32.
std::string transpose_lesson(const Rows& rows, bool has_gpu) {
  const Shape* largest = nullptr;
  for (const OperationRow& row : rows) {
    if (row.compute_s.samples > 0 && row.shape.precision == Precision::float32)
      largest = &row.shape;
  }
  if (!largest) return {};
  const OperationRow* simple =
      has_gpu ? find(rows, *largest, true, "naive") : find_on_one_core(rows, *largest, "loops");
  const OperationRow* tiled = has_gpu ? find(rows, *largest, true, "shared tiles")
                                      : find_on_one_core(rows, *largest, "blocks");
  if (!simple || !tiled) return {};
  return fmt::format(
      "At {}, {} are {} times as fast as {}. A transpose computes nothing: the order in which it "
      "reads and writes memory is all that matters.",
      size_text(*largest),
      has_gpu ? "tiles in shared memory" : "blocks that fit into the cache, on one core,",
      times_as_fast(tiled, simple), has_gpu ? "the naive kernel" : "plain loops");
}

}  // namespace

ExperimentResult bench_kernels(const Devices& devices, const ExperimentOptions& options) {
  std::vector<Shape> shapes;
  for (const int side : sizes<int>(options, {256, 512, 1024, 2048, 4096}, {256, 1024})) {
    for (const int k : sizes<int>(options, {16, 64, 128, 512}, {16, 128})) {
      if (k <= side)
        shapes.push_back({.operation = Operation::reconstruct, .m = side, .n = side, .k = k});
    }
  }
  MeasuredShapes measured = measure_shapes("", shapes, devices, options);
  Table& table = measured.table;
  table.name = "kernels";
  table.title = "Reconstruction C = U diag(s) V' from given factors, float32";
  table.lesson = product_lesson(measured.rows, shapes, devices.gpu != nullptr);
  add_speed_plot(table, "Speed at k = 128", measured.rows, shapes_with(shapes, 128));
  ExperimentResult result{{std::move(table)}, measured.is_right};
  ExperimentResult pixels = bench_pixels(devices, options);
  std::move(pixels.tables.begin(), pixels.tables.end(), std::back_inserter(result.tables));
  result.is_right = result.is_right && pixels.is_right;
  return result;
}

ExperimentResult bench_matmul(const Devices& devices, const ExperimentOptions& options) {
  ExperimentResult result;
  const double memory = double(machine::usable_memory_bytes());
  for (const Operation operation : {Operation::multiply, Operation::transpose}) {
    std::vector<Shape> shapes, float32_shapes;
    std::string left_out;
    for (const int side :
         sizes<int>(options, {256, 512, 1024, 2048, 4096, 8192, 20480}, {256, 1024})) {
      for (const Precision precision : {Precision::float32, Precision::float64}) {
        Shape shape{.operation = operation, .precision = precision, .m = side, .n = side};
        if (operation == Operation::multiply) shape.k = side;
        // Operands and results for each device, pinned, shared with Python, and there.
        const double copies = devices.peers ? 7 : 4;
        if (copies * shape.bytes() > memory) {
          left_out += (left_out.empty() ? "" : "; ") + size_text(shape);
          continue;
        }
        shapes.push_back(shape);
        if (precision == Precision::float32) float32_shapes.push_back(shape);
      }
    }
    const bool is_product = operation == Operation::multiply;
    MeasuredShapes measured =
        measure_shapes(is_product ? "products" : "transposes", shapes, devices, options);
    Table& table = measured.table;
    table.name = is_product ? "products" : "transposes";
    table.title = is_product ? "Square products C = A B" : "Transposes C = A'";
    if (!left_out.empty())
      table.notes.push_back("Left out, because the memory of this machine is too small: " +
                            left_out);
    if (!is_product) table.lesson = transpose_lesson(measured.rows, devices.gpu != nullptr);
    if (is_product) {
      table.lesson = product_lesson(measured.rows, float32_shapes, devices.gpu != nullptr);
      add_speed_plot(table, "Speed in float32", measured.rows, float32_shapes);
    }
    result.is_right = result.is_right && measured.is_right;
    result.tables.push_back(std::move(table));
  }
  return result;
}

ExperimentResult bench_bandwidth(const Devices& devices, const ExperimentOptions& options) {
  std::vector<Shape> sums, matrices;
  for (const int n : sizes<int>(options, {1 << 16, 1 << 20, 1 << 24, 1 << 27}, {1 << 20, 1 << 24},
                                {1 << 16, 1 << 18}))
    sums.push_back({.operation = Operation::add, .n = n});
  for (const int side : sizes<int>(options, {1024, 4096, 16384}, {1024, 4096}, {128, 256}))
    matrices.push_back({.operation = Operation::multiply_vector, .m = side, .n = side});
  std::vector<Shape> shapes = sums;
  shapes.insert(shapes.end(), matrices.begin(), matrices.end());
  MeasuredShapes measured = measure_shapes("", shapes, devices, options);
  Table& table = measured.table;
  table.name = "bandwidth";
  table.title = "Sums c = a + b, and matrix times vector c = A b, float32";
  table.lesson = bandwidth_lesson(measured.rows, matrices.back(), devices.gpu != nullptr);
  add_traffic_plots(table, measured.rows, sums, matrices);
  return {{std::move(table)}, measured.is_right};
}

}  // namespace eckart::bench
