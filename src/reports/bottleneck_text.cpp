#include "reports/bottleneck_text.hpp"

#include <spdlog/fmt/fmt.h>

#include "text/format_count.hpp"
#include "text/percent_text.hpp"

namespace eckart::reports {

std::string bottleneck_text(const telemetry::Bottleneck& bottleneck, int cores) {
  const std::string busy = text::percent_text(bottleneck.busy);
  if (bottleneck.resource == Resource::gpu)
    return fmt::format("the GPU is the bottleneck: {} busy", busy);
  if (!bottleneck.stage) return {};
  if (bottleneck.resource == Resource::cores)
    return fmt::format(
        "the CPU is the bottleneck: {} {} busy, {} of it in {}", text::format_count(cores, "core"),
        busy, text::percent_text(bottleneck.stage_cpu_share), to_string(*bottleneck.stage));
  if (!bottleneck.resource)
    return fmt::format("no stage is saturated: {} is the busiest, {} busy",
                       to_string(*bottleneck.stage), busy);
  return fmt::format("{} is the bottleneck: {} busy", to_string(*bottleneck.stage), busy);
}

}  // namespace eckart::reports
