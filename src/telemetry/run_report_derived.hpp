#pragma once

#include "telemetry/run_report.hpp"

/// What follows from a RunReport's numbers; the summary and the JSON say the same since both ask
/// here.
namespace eckart::telemetry {

/// Empty where no image came.
inline Bottleneck find_bottleneck(const RunReport& report) {
  if (report.images() == 0) return {};
  return find_bottleneck(report.stages, report.machine, report.pipeline_s);
}

inline double per_second(const RunReport& report, double amount) {
  return report.wall_s > 0 ? amount / report.wall_s : 0.0;
}

}  // namespace eckart::telemetry
