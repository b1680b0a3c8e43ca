#pragma once

#include "telemetry/run_report.hpp"

/// Values derived from a telemetry::RunReport. The summary and the JSON both use them, so that they
/// agree.
namespace eckart::reports {

/// Empty if there were no images.
inline telemetry::Bottleneck find_bottleneck(const telemetry::RunReport& report) {
  if (report.images() == 0) return {};
  return telemetry::find_bottleneck(report.stages, report.machine, report.pipeline_s);
}

inline double per_second(const telemetry::RunReport& report, double amount) {
  return report.wall_s > 0 ? amount / report.wall_s : 0.0;
}

}  // namespace eckart::reports
