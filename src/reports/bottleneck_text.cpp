#include "reports/bottleneck_text.hpp"

#include <spdlog/fmt/fmt.h>

#include <string>

#include "core/default_threads.hpp"
#include "text/format_count.hpp"
#include "text/percent_text.hpp"

namespace eckart::reports {
namespace {

/// Below this share of the cores, other programs are not worth a word.
constexpr double kMinOtherPrograms = 0.2;

/// What may help if the stage is the bottleneck; empty if that is not known. `workers`: 0 if the
/// pipeline adapts their number.
std::string advice(Stage stage, int workers, int cores) {
  const bool may_help = workers > 0 && workers < max_auto_threads(cores);
  if ((stage != Stage::load && stage != Stage::write) || !may_help) return {};
  return fmt::format(". More threads may help: --set threads.{}=auto", to_string(stage));
}

}  // namespace

std::string bottleneck_text(const telemetry::Bottleneck& bottleneck, int cores) {
  const std::string busy = text::percent_text(bottleneck.busy);
  if (bottleneck.resource == Resource::gpu)
    return fmt::format("the GPU is the bottleneck: {} busy. A lower rank or another GPU helps",
                       busy);
  if (!bottleneck.stage) return {};
  if (bottleneck.resource == Resource::cores)
    return fmt::format("the CPU is the bottleneck: {} {} busy, {} of it in {}. More cores help",
                       text::format_count(cores, "core"), busy,
                       text::percent_text(bottleneck.stage_cpu_share),
                       to_string(*bottleneck.stage));
  if (bottleneck.resource == Resource::disk)
    return fmt::format(
        "the disk is the bottleneck: {} {} busy, mostly waiting for files. A faster disk helps",
        to_string(*bottleneck.stage), busy);
  const bool is_disturbed = bottleneck.other_programs >= kMinOtherPrograms;
  const std::string others = is_disturbed
                                 ? fmt::format("; other programs use {} of {}",
                                               text::percent_text(bottleneck.other_programs),
                                               text::format_count(cores, "core"))
                                 : "";
  if (!bottleneck.resource)
    return fmt::format("no stage is saturated: {} is the busiest, {} busy{}",
                       to_string(*bottleneck.stage), busy, others);
  return fmt::format(
      "{} is the bottleneck: {} busy{}", to_string(*bottleneck.stage), busy,
      is_disturbed ? others : advice(*bottleneck.stage, bottleneck.stage_workers, cores));
}

}  // namespace eckart::reports
