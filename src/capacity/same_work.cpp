#include "capacity/same_work.hpp"

#include <algorithm>
#include <cstdint>

namespace eckart::capacity {
namespace {

/// Settings that say with how much a run was done, and not what was done.
bool is_of_the_work(const std::string& key) {
  return !key.starts_with("threads.") && !key.starts_with("telemetry.") && key != "cpu.lanes" &&
         key != "cuda.devices" && key != "log.level";
}

Kind kind_of(const LoggedRun& run) {
  const Sample whole = run.whole();
  const auto by_image = [](std::int64_t sum, std::int64_t images) {
    return double(sum) / double(std::max<std::int64_t>(1, images));
  };
  Kind kind{.cpu = run.cpu,
            .backend = run.backend,
            .device = run.gpus.empty() ? run.device : run.gpus.front(),
            .pixels_per_image = by_image(whole.pixels, whole.done),  // a failed one has none
            .input_bytes_per_image = by_image(whole.input_bytes, whole.images())};
  for (const auto& [key, value] : run.settings) {
    if (is_of_the_work(key)) kind.settings.push_back(key + "=" + value);
  }
  return kind;
}

}  // namespace

bool Kind::is_like(const Kind& other) const {
  const auto alike = [](double a, double b) {
    constexpr double kMostRatio = 1.25;
    return a <= kMostRatio * b && b <= kMostRatio * a;
  };
  return cpu == other.cpu && backend == other.backend && device == other.device &&
         settings == other.settings && alike(pixels_per_image, other.pixels_per_image) &&
         alike(input_bytes_per_image, other.input_bytes_per_image);
}

std::vector<Group> by_kind(const std::vector<LoggedRun>& runs) {
  std::vector<Group> groups;
  for (const LoggedRun& run : runs) {
    const Kind kind = kind_of(run);
    const auto like = [&](const Group& group) { return group.kind.is_like(kind); };
    const auto group = std::ranges::find_if(groups, like);
    if (group == groups.end()) {
      groups.push_back({kind, {run}});
    } else {
      group->runs.push_back(run);
    }
  }
  return groups;
}

}  // namespace eckart::capacity
