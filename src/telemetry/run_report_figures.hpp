#pragma once

#include "telemetry/run_report.hpp"

/// What follows from a RunReport's numbers; the summary and the JSON say the same since both ask
/// here.
namespace eckart::telemetry {

/// A stage that works for less than this share of its time is not what limits the rate.
constexpr double kSaturatedShare = 0.5;

inline double total_s(const StageRow& stage) {
  return stage.busy_s + stage.waiting_for_input_s + stage.waiting_for_room_s;
}

inline double busy_share(const StageRow& stage) {
  const double total = total_s(stage);
  return total > 0 ? stage.busy_s / total : 0.0;
}

inline bool is_saturated(const StageRow& stage) { return busy_share(stage) >= kSaturatedShare; }

/// Null when no stage was ever busy, or no image came.
inline const StageRow* busiest_stage(const RunReport& report) {
  const StageRow* busiest = nullptr;
  if (report.images() == 0) return busiest;
  for (const StageRow& stage : report.stages) {
    if (busy_share(stage) > (busiest ? busy_share(*busiest) : 0.0)) busiest = &stage;
  }
  return busiest;
}

inline double per_second(const RunReport& report, double amount) {
  return report.wall_s > 0 ? amount / report.wall_s : 0.0;
}

}  // namespace eckart::telemetry
