#include "capacity/workload.hpp"

#include <algorithm>
#include <cstdint>

namespace eckart::capacity {
namespace {

/// Returns whether the setting affects the work itself, and not the resources used for it.
bool is_workload_setting(const std::string& key, const std::string& value) {
  if (key == "ledger.file") return value == "none";  // shards have ledgers in other places
  return !key.starts_with("threads.") && !key.starts_with("telemetry.") && key != "cpu.lanes" &&
         key != "cuda.devices";
}

Workload workload_of(const LoggedRun& run) {
  const ThroughputSample whole = run.whole();
  const auto by_image = [](std::int64_t sum, std::int64_t images) {
    return double(sum) / double(std::max<std::int64_t>(1, images));
  };
  Workload workload{.cpu = run.cpu,
                    .backend = run.backend,
                    .device = run.gpus.empty() ? run.device : run.gpus.front(),
                    // Failed images have no pixels.
                    .pixels_per_image = by_image(whole.pixels, whole.done),
                    .input_bytes_per_image = by_image(whole.input_bytes, whole.images()),
                    .output_bytes_per_image = by_image(whole.output_bytes, whole.done),
                    .recorded_work = run.recorded_work};
  for (const auto& [key, value] : run.settings) {
    if (is_workload_setting(key, value)) workload.settings.push_back(key + "=" + value);
  }
  return workload;
}

}  // namespace

bool Workload::is_comparable_to(const Workload& other) const {
  const auto are_close = [](double a, double b) {
    constexpr double kMaxRatio = 1.25;
    return a <= kMaxRatio * b && b <= kMaxRatio * a;
  };
  return cpu == other.cpu && backend == other.backend && device == other.device &&
         settings == other.settings && recorded_work == other.recorded_work &&
         are_close(pixels_per_image, other.pixels_per_image) &&
         are_close(input_bytes_per_image, other.input_bytes_per_image);
}

std::vector<WorkloadRuns> group_by_workload(const std::vector<LoggedRun>& runs) {
  std::vector<WorkloadRuns> groups;
  for (const LoggedRun& run : runs) {
    const Workload workload = workload_of(run);
    const auto like = [&](const WorkloadRuns& group) {
      return group.workload.is_comparable_to(workload);
    };
    const auto group = std::ranges::find_if(groups, like);
    if (group == groups.end()) {
      groups.push_back({workload, {run}});
    } else {
      group->runs.push_back(run);
    }
  }
  return groups;
}

}  // namespace eckart::capacity
