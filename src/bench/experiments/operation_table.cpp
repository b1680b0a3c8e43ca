#include "bench/experiments/operation_table.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <stdexcept>

#include "compute/out_of_memory.hpp"
#include "text/format_number.hpp"
#include "text/group_digits.hpp"

namespace eckart::bench {
namespace {

constexpr int kSeed = 1;

struct MeasuredRow {
  OperationRow row;
  double shortest_s = 0;  ///< by the ceilings of the device
  MeasuredTimes times;    ///< of CallTimes: compute_s, total_s, copy_in_s, copy_out_s
};

/// The rows of a shape on one device.
class DeviceRows {
 public:
  explicit DeviceRows(const Shape& shape, bool are_peers = false)
      : shape_(shape), are_peers_(are_peers) {}

  /// Prepares the operation. In the first pass, which has a reference, it also makes the rows, and
  /// compares all results with it. Later it does nothing if no row can be measured.
  void prepare(Device& device, const std::vector<Array>& operands, const Reference* reference,
               const ExperimentOptions& options) {
    if (!reference && std::ranges::none_of(rows_, is_measurable)) return;
    operation_ = device.prepare(shape_, operands);
    if (!reference) return;
    std::vector<MeasuredRow> rows;
    for (std::size_t i = 0; i < operation_->variants().size(); ++i) {
      if (options.stop.stop_requested()) break;
      rows.push_back(checked_row(i, device, *reference, options));
    }
    rows_ = std::move(rows);
  }

  /// Appends the works of rows that can be measured.
  void append_works(const ExperimentOptions& options, std::vector<SampledWork>& works) {
    if (!operation_) return;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (!is_measurable(rows_[i])) continue;
      const TimedWork work = [this, i, &options] {
        const CallTimes times = run(i, options);
        return std::vector{times.compute_s, times.total_s, times.copy_in_s, times.copy_out_s};
      };
      MeasuredRow& row = rows_[i];
      works.push_back({row.row.is_on_gpu() ? with_clock(work, options) : work, &row.times,
                       &row.row.not_measured});
    }
  }

  /// Frees the memory of the operation, after a pass.
  void end_pass() { operation_.reset(); }

  std::vector<MeasuredRow>& rows() { return rows_; }

 private:
  static bool is_measurable(const MeasuredRow& row) { return row.row.not_measured.empty(); }

  MeasuredRow checked_row(std::size_t variant, Device& device, const Reference& reference,
                          const ExperimentOptions& options) {
    OperationRow row{
        .shape = shape_, .variant = operation_->variants()[variant], .is_peer = are_peers_};
    const double shortest_s =
        shortest_time(shape_, device.ceilings(row.variant), row.variant.uses_tensor_cores);
    if (shortest_s > max_call_seconds(options)) {
      row.not_measured = too_slow(options);
    } else {
      try {
        constexpr double kMaxFirstCallFactor = 2;  // first calls of libraries take longer
        const Result result = operation_->result(variant);
        row.error = reference.relative_error(result.values);
        row.is_right = *row.error <= max_relative_error(shape_);  // false for NaN
        if (!row.is_right)
          row.not_measured = kWrongResult;
        else if (result.compute_s > kMaxFirstCallFactor * max_call_seconds(options))
          row.not_measured = too_slow(options);
      } catch (const std::runtime_error& error) {
        if (!are_peers_) throw;
        row.not_measured = error.what();
      }
    }
    return {std::move(row), shortest_s, {}};
  }

  /// All times are 0 after a peer has failed. Peers are ended by a stop request, and then do not
  /// fail.
  CallTimes run(std::size_t i, const ExperimentOptions& options) {
    OperationRow& row = rows_[i].row;
    if (!row.not_measured.empty()) return {};
    try {
      return operation_->run(i);
    } catch (const std::runtime_error& error) {
      if (!are_peers_) throw;
      if (!options.stop.stop_requested()) row.not_measured = error.what();
      return {};
    }
  }

  Shape shape_;
  bool are_peers_;
  std::unique_ptr<PreparedOperation> operation_;
  std::vector<MeasuredRow> rows_;
};

/// The rows of a shape on all devices.
class ShapeRows {
 public:
  explicit ShapeRows(const Shape& shape)
      : shape_(shape), cpu_(shape), gpu_(shape), peers_(shape, true) {}

  /// Measures all rows once; the first time, it checks their results before.
  void measure(const Devices& devices, std::size_t pass, const ExperimentOptions& options) {
    const std::vector<Array> operands = random_operands(shape_, kSeed);
    std::optional<Reference> first_reference;
    if (cpu_.rows().empty()) first_reference.emplace(shape_, operands);
    const Reference* reference = first_reference ? &*first_reference : nullptr;
    cpu_.prepare(*devices.cpu, operands, reference, options);
    if (devices.gpu && no_gpu_memory_.empty()) {
      try {
        gpu_.prepare(*devices.gpu, operands, reference, options);
      } catch (const compute::OutOfMemory& error) {
        gpu_.end_pass();
        if (gpu_.rows().empty()) no_gpu_memory_ = error.what();
      }
    }
    if (devices.peers) {
      try {
        peers_.prepare(*devices.peers, operands, reference, options);
      } catch (const std::runtime_error& error) {
        if (!options.stop.stop_requested())
          options.print_line(std::string("peers: ") + error.what());
      }
    }
    std::vector<SampledWork> works;
    for (DeviceRows* device : {&cpu_, &gpu_, &peers_}) device->append_works(options, works);
    sample(works, pass, options);
    for (DeviceRows* device : {&cpu_, &gpu_, &peers_}) device->end_pass();
  }

  std::vector<OperationRow> finished_rows() {
    std::vector<OperationRow> rows;
    if (!no_gpu_memory_.empty()) {
      OperationRow& row = rows.emplace_back();
      row.shape = shape_;
      row.not_measured = no_gpu_memory_;
    }
    const MeasuredTimes* on_cpu = fastest_on_cpu();
    for (DeviceRows* device : {&cpu_, &gpu_, &peers_}) {
      for (MeasuredRow& measured : device->rows()) {
        OperationRow& row = rows.emplace_back(measured.row);
        if (!row.not_measured.empty()) continue;
        const MeasuredTimes& times = measured.times;
        const double resolution_s = row.is_on_gpu() && !row.is_peer ? kEventResolutionSeconds : 0;
        row.compute_s = times.time(0).with_resolution(resolution_s);
        row.total_s = times.time(1);
        row.copy_in_s = times.time(2).with_resolution(resolution_s);
        row.copy_out_s = times.time(3).with_resolution(resolution_s);
        row.roofline_share = measured.shortest_s / row.compute_s.median;
        if (!on_cpu) continue;
        row.speedup = ratio(on_cpu->passes[0], times.passes[0]);
        row.speedup_with_copies = ratio(on_cpu->passes[0], times.passes[1]);
      }
    }
    return rows;
  }

 private:
  const MeasuredTimes* fastest_on_cpu() {
    const MeasuredTimes* fastest = nullptr;
    for (DeviceRows* device : {&cpu_, &gpu_, &peers_}) {
      for (const MeasuredRow& row : device->rows()) {
        if (row.row.is_on_gpu() || !row.row.not_measured.empty()) continue;
        if (!fastest || row.times.time(0).median < fastest->time(0).median) fastest = &row.times;
      }
    }
    return fastest;
  }

  Shape shape_;
  DeviceRows cpu_, gpu_, peers_;
  std::string no_gpu_memory_;  // why the GPU is not measured; empty: it is
};

/// The row of the same size and variant in float64; null if it was not measured.
const OperationRow* find_float64(const std::vector<OperationRow>& rows, const OperationRow& row) {
  Shape shape = row.shape;
  shape.precision = Precision::float64;
  return fastest(rows, [&](const OperationRow& other) {
    return other.shape == shape && other.name() == row.name() && other.is_peer == row.is_peer;
  });
}

void compare_with_float64(std::vector<OperationRow>& rows) {
  for (OperationRow& row : rows) {
    if (row.compute_s.samples == 0 || row.shape.precision == Precision::float64) continue;
    if (const OperationRow* float64 = find_float64(rows, row))
      row.speedup_over_float64 = float64->compute_s.median / row.compute_s.median;
  }
}

struct TableColumn {
  Column column;
  std::function<Cell(const OperationRow& row)> cell;  ///< of a measured row
};

const std::vector<TableColumn>& table_columns() {
  static const std::vector<TableColumn> columns = {
      {{"compute_us", "compute", "us", true},
       [](const OperationRow& row) { return microseconds(row.compute_s); }},
      {{"gflop_per_s", "rate", "GFLOP/s"},
       [](const OperationRow& row) {
         const double flops = row.shape.flops();
         return flops > 0 ? Cell(rate(1e-9 * flops, row.compute_s).median) : Cell();
       }},
      {{"gb_per_s", "traffic", "GB/s"},
       [](const OperationRow& row) {
         return Cell(rate(1e-9 * row.shape.bytes(), row.compute_s).median);
       }},
      {{"flop_per_byte", "intensity", "FLOP/byte"},
       [](const OperationRow& row) {
         const Operation operation = row.shape.operation;
         const bool is_memory_bound =
             operation == Operation::add || operation == Operation::multiply_vector;
         return is_memory_bound ? Cell(row.shape.flops() / row.shape.bytes()) : Cell();
       }},
      {{"roofline_percent", "roofline", "%"},
       [](const OperationRow& row) { return percent(row.roofline_share); }},
      {{"occupancy_percent", "occupancy", "%"},
       [](const OperationRow& row) { return percent(row.variant.occupancy); }},
      {{"speedup_over_float64", "speedup", "× float64"},
       [](const OperationRow& row) {
         return row.speedup_over_float64 > 0 ? Cell(row.speedup_over_float64) : Cell();
       }},
      {{"copy_in_us", "copy in", "us"},
       [](const OperationRow& row) {
         return row.is_on_gpu() ? microseconds(row.copy_in_s) : Cell();
       }},
      {{"copy_out_us", "copy out", "us"},
       [](const OperationRow& row) {
         return row.is_on_gpu() ? microseconds(row.copy_out_s) : Cell();
       }},
      {{"total_us", "total", "us", true},
       [](const OperationRow& row) {
         return row.is_on_gpu() ? microseconds(row.total_s) : Cell();
       }},
      {{"speedup", "speedup", "× CPU"},
       [](const OperationRow& row) { return measured_or_empty(row.speedup); }},
      {{"speedup_with_copies", "with copies", "× CPU"},
       [](const OperationRow& row) {
         return row.is_on_gpu() ? measured_or_empty(row.speedup_with_copies) : Cell();
       }},
  };
  return columns;
}

std::vector<Cell> cells_of(const OperationRow& row) {
  std::vector<Cell> cells = {size_text(row.shape), row.name(),
                             row.error ? Cell(*row.error) : Cell()};
  for (const TableColumn& column : table_columns())
    cells.push_back(row.not_measured.empty() ? column.cell(row) : Cell());
  if (!row.not_measured.empty()) cells[3] = NotMeasured{row.not_measured};
  return cells;
}

}  // namespace

std::string OperationRow::name() const {
  if (is_on_gpu()) return "GPU, " + variant.name;
  return fmt::format("CPU, {}, {} {}", variant.name, variant.cores,
                     variant.cores == 1 ? "core" : "cores");
}

std::string size_text(const Shape& shape) {
  const std::string suffix = shape.precision == Precision::float64 ? ", float64" : "";
  switch (shape.operation) {
    case Operation::reconstruct:
      return fmt::format("{} × {}, k = {}", shape.m, shape.n, shape.k) + suffix;
    case Operation::multiply:
      return fmt::format("{} × {} × {}", shape.m, shape.k, shape.n) + suffix;
    case Operation::transpose:
    case Operation::multiply_vector:
      return fmt::format("{} × {}", shape.m, shape.n) + suffix;
    case Operation::add:
      return text::group_digits(shape.n) + " elements" + suffix;
  }
  return {};
}

void measure_peaks(const Devices& devices, const ExperimentOptions& options) {
  options.print_line("peaks of the devices");
  if (devices.gpu) devices.gpu->ceilings({});
  for (const int cores : {1, devices.cores}) {
    if (options.stop.stop_requested()) return;
    Variant variant;
    variant.cores = cores;
    devices.cpu->ceilings(variant);
  }
}

Table operation_table(const std::vector<OperationRow>& rows) {
  Table table;
  table.columns = {
      {"size", "size", ""}, {"variant", "variant", ""}, {"relative_error", "error", ""}};
  for (const TableColumn& column : table_columns()) table.columns.push_back(column.column);
  for (const OperationRow& row : rows) table.add_row(cells_of(row));
  table.remove_empty_columns();
  return table;
}

std::vector<std::string> measurement_notes(const Devices& devices, const char* without_gpu) {
  std::vector<std::string> notes = {
      std::string("Times are medians; ") + kIntervalNote +
          " All rows of a size were measured in turns.",
      "Operands are random. Every result was compared with float64 before it was measured.",
      "Roofline is the share of the speed that the measured peaks of the device allow: see "
      "docs/reference/bench.md. More than 100 % on the CPU: the operands were in its caches, or "
      "the peaks were disturbed.",
      "Plain loops are measured up to 10⁹ operations."};
  if (devices.gpu) {
    notes.emplace_back(
        "GPU: compute is the time of the kernels with empty caches, by events of the GPU. Roofline "
        "may be above 100 %: the peak of memory is that of a copy, and reading alone is a little "
        "faster.");
  } else {
    notes.push_back(without_gpu_note(without_gpu, devices.no_gpu_reason));
  }
  return notes;
}

namespace {

/// What the columns of the table of all operations mean.
std::vector<std::string> operation_notes(const Devices& devices) {
  std::vector<std::string> notes =
      measurement_notes(devices, "the rows of the GPU, copies and occupancy");
  notes.emplace_back(
      "Speedup compares with the fastest row on the CPU: it is the median of the ratios of their "
      "samples. Error is the relative error in the Frobenius norm. Rate and traffic count what any "
      "implementation must do.");
  if (devices.gpu) notes.emplace_back("Total has the copies from and to pinned memory.");
  if (devices.peers)
    notes.emplace_back(
        "Libraries of Python are timed by the clock of the host, in Python, with warm caches and "
        "from pageable memory.");
  return notes;
}

}  // namespace

MeasuredShapes measure_shapes(const std::string& title, const std::vector<Shape>& shapes,
                              const Devices& devices, const ExperimentOptions& options) {
  measure_peaks(devices, options);
  std::vector<ShapeRows> shape_rows;
  std::vector<std::string> names;
  for (const Shape& shape : shapes) {
    shape_rows.emplace_back(shape);
    names.push_back(size_text(shape));
  }
  const std::size_t complete = measure_in_passes(
      options, title, names,
      [&](std::size_t i, std::size_t pass) { shape_rows[i].measure(devices, pass, options); });
  MeasuredShapes measured;
  for (std::size_t i = 0; i < complete; ++i) {
    std::vector<OperationRow> rows = shape_rows[i].finished_rows();
    std::move(rows.begin(), rows.end(), std::back_inserter(measured.rows));
  }
  compare_with_float64(measured.rows);
  measured.is_right = !has_wrong_result(measured.rows);
  measured.table = operation_table(measured.rows);
  measured.table.notes = operation_notes(devices);
  return measured;
}

const OperationRow* fastest(const std::vector<OperationRow>& rows,
                            const std::function<bool(const OperationRow&)>& matches) {
  const OperationRow* best = nullptr;
  for (const OperationRow& row : rows) {
    if (row.compute_s.samples == 0 || !matches(row)) continue;
    if (!best || row.compute_s.median < best->compute_s.median) best = &row;
  }
  return best;
}

bool has_wrong_result(const std::vector<OperationRow>& rows) {
  return std::any_of(rows.begin(), rows.end(), [](const OperationRow& row) {
    return !row.is_right && row.error.has_value() && !row.is_peer;
  });
}

}  // namespace eckart::bench
