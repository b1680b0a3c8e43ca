#include "bench/experiments/roofline_experiment.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

#include "bench/experiments/operation_table.hpp"
#include "text/format_count.hpp"
#include "text/format_number.hpp"

namespace eckart::bench {
namespace {

/// The peaks of a device, and how its rows are found.
struct Roof {
  std::string name;
  Ceilings ceilings;
  int cores;  ///< 0: the GPU
};

std::vector<Roof> measure_roofs(const Devices& devices) {
  std::vector<Roof> roofs;
  if (devices.gpu) roofs.push_back({"GPU", devices.gpu->ceilings({}), 0});
  std::vector<int> core_counts = {1};
  if (devices.cores > 1) core_counts.push_back(devices.cores);
  for (const int cores : core_counts) {
    Variant variant;
    variant.cores = cores;
    roofs.push_back(
        {"CPU, " + text::format_count(cores, "core"), devices.cpu->ceilings(variant), cores});
  }
  return roofs;
}

std::string device_text(const Roof& roof) { return roof.cores == 0 ? "The GPU" : "A core"; }

/// Empty if it is 0.
Cell billions(double value) { return value > 0 ? Cell(1e-9 * value) : Cell(); }

Table peak_table(const std::vector<Roof>& roofs) {
  Table table{.name = "peaks",
              .title = "Measured peaks",
              .columns = {{"device", "device", ""},
                          {"memory_gb_per_s", "memory", "GB/s"},
                          {"float32_gflop_per_s", "float32", "GFLOP/s"},
                          {"float64_gflop_per_s", "float64", "GFLOP/s"},
                          {"tensor_gflop_per_s", "3 × TF32", "GFLOP/s"},
                          {"balance_flop_per_byte", "balance", "FLOP/byte"}},
              .rows = {}};
  for (const Roof& roof : roofs) {
    const Ceilings& c = roof.ceilings;
    table.add_row({roof.name, billions(c.bytes_per_s), billions(c.float32_per_s),
                   billions(c.float64_per_s), billions(c.tensor_per_s),
                   c.bytes_per_s > 0 ? Cell(c.float32_per_s / c.bytes_per_s) : Cell()});
  }
  table.remove_empty_columns();
  table.notes = {
      "The best of some calls: a copy in memory, read and written; large products by cuBLAS and "
      "OpenBLAS. Balance: with fewer operations in float32 for each byte, memory is the limit.",
      "The peaks of several cores are at least those of fewer: a program may leave some idle."};
  const Roof& first = roofs.front();
  table.lesson = fmt::format(
      "{} can do {} operations in float32 in the time in which it reads or writes one byte of its "
      "memory. What a program does with each byte decides which of its peaks it can reach.",
      device_text(first),
      text::format_number(first.ceilings.float32_per_s / first.ceilings.bytes_per_s));
  return table;
}

double intensity(const Shape& shape) { return shape.flops() / shape.bytes(); }

std::string bound_of(const OperationRow& row, const Ceilings& ceilings) {
  const double compute_per_s = row.variant.uses_tensor_cores
                                   ? ceilings.tensor_per_s
                                   : ceilings.flops_per_s(row.shape.precision);
  if (intensity(row.shape) * ceilings.bytes_per_s < compute_per_s) return "memory";
  return row.variant.uses_tensor_cores ? "3 × TF32" : std::string(to_string(row.shape.precision));
}

const Ceilings& ceilings_of(const OperationRow& row, const std::vector<Roof>& roofs) {
  return std::find_if(roofs.begin(), roofs.end(),
                      [&](const Roof& roof) { return roof.cores == row.variant.cores; })
      ->ceilings;
}

Table kernel_table(const std::vector<OperationRow>& rows, const std::vector<Roof>& roofs) {
  Table table{.name = "roofline",
              .title = "Kernels below the roofline",
              .columns = {{"size", "size", ""},
                          {"variant", "variant", ""},
                          {"intensity_flop_per_byte", "intensity", "FLOP/byte"},
                          {"gflop_per_s", "rate", "GFLOP/s", true},
                          {"bound", "bound", ""},
                          {"roofline_percent", "roofline", "%"}},
              .rows = {}};
  for (const OperationRow& row : rows) {
    if (row.compute_s.samples == 0) {
      table.add_row({size_text(row.shape), row.name(), intensity(row.shape),
                     NotMeasured{row.not_measured}, Cell(), Cell()});
    } else {
      table.add_row({size_text(row.shape), row.name(), intensity(row.shape),
                     rate(1e-9 * row.shape.flops(), row.compute_s),
                     bound_of(row, ceilings_of(row, roofs)), percent(row.roofline_share)});
    }
  }
  return table;
}

/// The highest rate at each intensity, in GFLOP/s.
html::PlotSeries roof_line(const Roof& roof, const char* css_class) {
  constexpr double kFirst = 1.0 / 32, kLast = 4096;
  html::PlotSeries line{.label = roof.name + ", peak",
                        .css_class = css_class,
                        .style = html::PlotSeries::Style::line,
                        .points = {}};
  const double balance = roof.ceilings.float32_per_s / roof.ceilings.bytes_per_s;
  for (const double x : {kFirst, balance, kLast})
    line.points.emplace_back(
        x, 1e-9 * std::min(x * roof.ceilings.bytes_per_s, roof.ceilings.float32_per_s));
  return line;
}

/// The rate of each kernel in float32 below this roof.
html::PlotSeries kernel_points(const std::vector<OperationRow>& rows, const Roof& roof,
                               const char* css_class) {
  html::PlotSeries points{.label = roof.name + ", kernels",
                          .css_class = css_class,
                          .style = html::PlotSeries::Style::points,
                          .points = {}};
  for (const OperationRow& row : rows) {
    if (row.compute_s.samples == 0 || row.shape.precision != Precision::float32 ||
        row.variant.cores != roof.cores)
      continue;
    points.points.emplace_back(intensity(row.shape),
                               rate(1e-9 * row.shape.flops(), row.compute_s).median);
    points.names.push_back(size_text(row.shape) + ", " + row.name());
  }
  return points;
}

std::string short_name(const Shape& shape) {
  switch (shape.operation) {
    case Operation::reconstruct:
      return fmt::format("U diag(s) V', k = {}", shape.k);
    case Operation::multiply:
      return "A B";
    case Operation::transpose:
      return "A'";
    case Operation::add:
      return "a + b";
    case Operation::multiply_vector:
      return "A b";
  }
  return {};
}

std::vector<html::PlotMark> operation_marks(const std::vector<Shape>& shapes) {
  std::vector<html::PlotMark> marks;
  for (const Shape& shape : shapes) {
    if (shape.precision == Precision::float32)
      marks.push_back({intensity(shape), short_name(shape)});
  }
  return marks;
}

html::Plot plot(const std::vector<OperationRow>& rows, const std::vector<Shape>& shapes,
                const std::vector<Roof>& roofs) {
  std::vector<html::PlotSeries> series;
  series.reserve(2 * roofs.size());
  for (const Roof& roof : roofs) {
    const char* css_class = roof.cores == 0 ? "c1" : roof.cores == 1 ? "c2" : "c3";
    series.push_back(roof_line(roof, css_class));
    series.push_back(kernel_points(rows, roof, css_class));
  }
  html::Plot plot =
      logarithmic_plot("Roofline, float32", "FLOP/byte", "GFLOP/s", std::move(series));
  plot.marks = operation_marks(shapes);
  return plot;
}

}  // namespace

ExperimentResult bench_roofline(const Devices& devices, const ExperimentOptions& options) {
  const int side = sizes<int>(options, {4096}, {256, 1024}).back();
  const std::vector<Shape> shapes = {
      {.operation = Operation::add, .n = side * 4096},
      {.operation = Operation::multiply_vector, .m = side, .n = side},
      {.operation = Operation::reconstruct, .m = side, .n = side, .k = 16},
      {.operation = Operation::reconstruct, .m = side, .n = side, .k = 128},
      {.operation = Operation::multiply, .m = side, .n = side, .k = side},
      {.operation = Operation::multiply,
       .precision = Precision::float64,
       .m = side,
       .n = side,
       .k = side}};
  const MeasuredShapes measured = measure_shapes("", shapes, devices, options);
  if (measured.rows.empty()) return {};  // after a stop request
  const std::vector<Roof> roofs = measure_roofs(devices);
  Table kernels = kernel_table(measured.rows, roofs);
  kernels.notes = measurement_notes(devices, "the rows of the GPU");
  kernels.notes.emplace_back(
      "Intensity counts the operations and the bytes that any implementation must do, read and "
      "write. Bound is the peak that limits such a kernel.");
  kernels.plots.push_back(plot(measured.rows, shapes, roofs));
  const Roof& first = roofs.front();
  kernels.lesson = fmt::format(
      "A kernel with fewer operations for each byte than the balance cannot be faster than memory, "
      "however good its arithmetic is. {} has a balance of {}; a sum of vectors has {:.2f} "
      "operations for each byte, a reconstruction with k = 128 has {:.0f}.",
      device_text(first),
      text::format_number(first.ceilings.float32_per_s / first.ceilings.bytes_per_s),
      intensity(shapes.front()), intensity(shapes[3]));
  return {{peak_table(roofs), std::move(kernels)}, measured.is_right};
}

}  // namespace eckart::bench
