#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/experiments/devices.hpp"
#include "bench/experiments/experiment.hpp"
#include "bench/report/table.hpp"

namespace eckart::bench {

/// What was measured of one variant of an operation.
struct OperationRow {
  Shape shape{};
  Variant variant{};
  bool is_peer = false;           ///< a library of Python
  std::optional<double> error{};  ///< of the result, relative; empty: not computed
  bool is_right = false;          ///< if not, it was not measured
  std::string not_measured{};     ///< why; empty: it was
  Estimate compute_s{}, copy_in_s{}, copy_out_s{}, total_s{};
  double roofline_share = 0;  ///< the shortest possible time by the ceilings, divided by compute_s
  /// How much faster it is than the fastest variant on the CPU, without and with the copies.
  Estimate speedup{}, speedup_with_copies{};
  /// How much faster it is than the same variant in float64; 0: unknown, or it is in float64.
  double speedup_over_float64 = 0;

  bool is_on_gpu() const { return variant.cores == 0; }
  /// Such as "GPU, naive" and "CPU, OpenBLAS, 16 cores".
  std::string name() const;
};

/// Measures what the devices can do at most: see Device::ceilings(). Ends early after a stop
/// request.
void measure_peaks(const Devices& devices, const ExperimentOptions& options);

/// The table of all experiments on operations, without a title.
Table operation_table(const std::vector<OperationRow>& rows);
/// Such as "1024 × 1024, k = 64".
std::string size_text(const Shape& shape);

/// How operations were measured, a line each. `without_gpu`: what is missing if there is no GPU.
std::vector<std::string> measurement_notes(const Devices& devices, const char* without_gpu);

/// All rows of some shapes, and their table without a title.
struct MeasuredShapes {
  std::vector<OperationRow> rows;
  Table table;
  bool is_right = true;
};
/// Checks and measures all variants of an operation on all devices, for all shapes. After a stop
/// request, it returns the complete ones. If the memory of a device is too small, a row says so.
MeasuredShapes measure_shapes(const std::string& title, const std::vector<Shape>& shapes,
                              const Devices& devices, const ExperimentOptions& options);

/// The fastest measured row that `matches`; null if there is none.
const OperationRow* fastest(const std::vector<OperationRow>& rows,
                            const std::function<bool(const OperationRow&)>& matches);

/// Whether a result was wrong, except those of peers.
bool has_wrong_result(const std::vector<OperationRow>& rows);

}  // namespace eckart::bench
