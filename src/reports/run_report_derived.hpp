#pragma once

#include "telemetry/run_report.hpp"

/// What follows from a telemetry::RunReport's numbers; the summary and the JSON say the same since
/// both ask here.
namespace eckart::reports {

/// Empty where no image came.
inline telemetry::Bottleneck find_bottleneck(const telemetry::RunReport& report) {
  if (report.images() == 0) return {};
  return telemetry::find_bottleneck(report.stages, report.machine, report.pipeline_s);
}

inline double per_second(const telemetry::RunReport& report, double amount) {
  return report.wall_s > 0 ? amount / report.wall_s : 0.0;
}

}  // namespace eckart::reports
