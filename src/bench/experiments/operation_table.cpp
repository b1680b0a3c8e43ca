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

/// The variants of an operation on one device, after their results were checked.
class DeviceRows {
 public:
  DeviceRows(Device& device, const Shape& shape, const std::vector<Array>& operands,
             const Reference& reference, const ExperimentOptions& options, bool are_peers = false)
      : operation_(device.prepare(shape, operands)), options_(options) {
    for (std::size_t i = 0; i < operation_->variants().size(); ++i) {
      if (options.stop.stop_requested()) break;
      OperationRow& row = rows_.emplace_back();
      row.shape = shape;
      row.variant = operation_->variants()[i];
      row.is_peer = are_peers;
      shortest_s_.push_back(
          shortest_time(shape, device.ceilings(row.variant), row.variant.uses_tensor_cores));
      if (shortest_s_[i] > max_call_seconds(options)) {
        row.not_measured = too_slow(options);
        continue;
      }
      try {
        row.error = reference.relative_error(operation_->result(i));
        row.is_right = *row.error <= max_relative_error(shape);  // false for NaN
        if (!row.is_right) row.not_measured = kWrongResult;
      } catch (const std::runtime_error& error) {
        if (!are_peers) throw;
        row.not_measured = error.what();
      }
    }
  }

  /// Appends the works of rows that can be measured, and the rows.
  void append_works(std::vector<TimedWork>& works, std::vector<OperationRow*>& rows) {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (!rows_[i].is_right) continue;
      const TimedWork work = [this, i] {
        const CallTimes times = run(i);
        return std::vector{times.compute_s, times.total_s, times.copy_in_s, times.copy_out_s};
      };
      works.push_back(rows_[i].is_on_gpu() ? with_clock(work, options_) : work);
      rows.push_back(&rows_[i]);
    }
  }
  std::vector<OperationRow> take() {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const double measured_s = rows_[i].compute_s.median;
      if (measured_s > 0) rows_[i].roofline_share = shortest_s_[i] / measured_s;
    }
    return std::move(rows_);
  }

 private:
  /// All times are 0 after a peer has failed.
  CallTimes run(std::size_t i) {
    OperationRow& row = rows_[i];
    if (!row.not_measured.empty()) return {};
    try {
      return operation_->run(i);
    } catch (const std::runtime_error& error) {
      if (!row.is_peer) throw;
      row.not_measured = error.what();
      return {};
    }
  }

  std::unique_ptr<PreparedOperation> operation_;
  const ExperimentOptions& options_;
  std::vector<OperationRow> rows_;
  std::vector<double> shortest_s_;  // of each row
};

/// Sets the times of the rows, and how much faster they are than the fastest row on the CPU.
void set_times(const std::vector<OperationRow*>& rows, const std::vector<Samples>& all,
               const ExperimentOptions& options) {
  const std::vector<double>* fastest_on_cpu = nullptr;
  double fastest_s = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    OperationRow& row = *rows[i];
    if (!row.not_measured.empty()) continue;
    if (!all[i].is_measured()) {
      row.not_measured = too_slow(options);
      continue;
    }
    row.compute_s = estimate(all[i].times[0]);
    row.total_s = estimate(all[i].times[1]);
    row.copy_in_s = estimate(all[i].times[2]);
    row.copy_out_s = estimate(all[i].times[3]);
    const double median_s = row.compute_s.median;
    if (!row.is_on_gpu() && (!fastest_on_cpu || median_s < fastest_s)) {
      fastest_on_cpu = &all[i].times[0];
      fastest_s = median_s;
    }
  }
  if (!fastest_on_cpu) return;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i]->not_measured.empty()) continue;
    rows[i]->speedup = ratio(*fastest_on_cpu, all[i].times[0]);
    rows[i]->speedup_with_copies = ratio(*fastest_on_cpu, all[i].times[1]);
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
      {{"roofline_percent", "roofline", "%"},
       [](const OperationRow& row) { return percent(row.roofline_share); }},
      {{"occupancy_percent", "occupancy", "%"},
       [](const OperationRow& row) { return percent(row.variant.occupancy); }},
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

/// How the rows were measured, one line each.
std::vector<std::string> notes_on(const Devices& devices) {
  std::vector<std::string> notes = {
      "Times are medians; ± is the 95 % interval of the median. All rows of a size were measured "
      "in "
      "turns, after a warm-up.",
      "Operands are random. Every result was compared with float64 before it was measured; error "
      "is the relative error in the Frobenius norm.",
      "Rate and traffic count what any implementation must do: see docs/reference/bench.md. "
      "Roofline is the share of the speed that the measured peaks of the device allow. More than "
      "100 % on the CPU: the operands were in its caches, or the peaks were disturbed.",
      "Plain loops are measured up to 10⁹ operations."};
  if (devices.gpu) {
    notes.emplace_back(
        "GPU: compute is one launch with empty caches, by events of the GPU. Total has the copies "
        "from and to pinned memory. Speedup compares with the fastest row on the CPU.");
  } else {
    notes.push_back(without_gpu_note("its rows, copies and occupancy", devices.no_gpu_reason));
  }
  if (devices.peers)
    notes.emplace_back(
        "Libraries of Python are timed by the clock of the host, in Python, with warm caches and "
        "from pageable memory.");
  return notes;
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

std::vector<OperationRow> measure_operation(const Shape& shape, const Devices& devices,
                                            const ExperimentOptions& options) {
  const std::vector<Array> operands = random_operands(shape, kSeed);
  const Reference reference(shape, operands);
  std::vector<DeviceRows> prepared;
  prepared.reserve(3);  // rows must not move
  prepared.emplace_back(*devices.cpu, shape, operands, reference, options);
  std::vector<OperationRow> rows;
  if (devices.gpu) {
    try {
      prepared.emplace_back(*devices.gpu, shape, operands, reference, options);
    } catch (const compute::OutOfMemory& error) {
      OperationRow& row = rows.emplace_back();
      row.shape = shape;
      row.not_measured = error.what();
    }
  }
  if (devices.peers) {
    try {
      prepared.emplace_back(*devices.peers, shape, operands, reference, options, true);
    } catch (const std::runtime_error& error) {
      if (!options.stop.stop_requested()) options.print_line(std::string("peers: ") + error.what());
    }
  }

  std::vector<TimedWork> works;
  std::vector<OperationRow*> measured;
  for (DeviceRows& device : prepared) device.append_works(works, measured);
  constexpr int kRepeats = 2;  // without and with copies
  set_times(measured, sample(works, options, kRepeats), options);
  for (DeviceRows& device : prepared) {
    for (OperationRow& row : device.take()) rows.push_back(std::move(row));
  }
  return rows;
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

MeasuredShapes measure_shapes(const std::string& title, const std::vector<Shape>& shapes,
                              const Devices& devices, const ExperimentOptions& options) {
  MeasuredShapes measured;
  Progress progress(options, title, shapes.size());
  for (const Shape& shape : shapes) {
    progress.next(size_text(shape));
    std::vector<OperationRow> rows = measure_operation(shape, devices, options);
    if (options.stop.stop_requested()) break;
    std::move(rows.begin(), rows.end(), std::back_inserter(measured.rows));
  }
  measured.is_right = !has_wrong_result(measured.rows);
  measured.table = operation_table(measured.rows);
  measured.table.notes = notes_on(devices);
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
