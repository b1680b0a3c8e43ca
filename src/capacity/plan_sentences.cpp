#include "capacity/plan_sentences.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "capacity/number_format.hpp"
#include "capacity/plan_phrases.hpp"
#include "text/format_count.hpp"
#include "text/format_number.hpp"

namespace eckart::capacity {
namespace {

/// Below this share of the rate, a gain is none.
constexpr double kMinGain = 0.05;

std::string capitalized(std::string text) {
  text[0] = char(std::toupper(text[0]));
  return text;
}

std::string limit_reason(const Plan& plan) {
  if (plan.bounds.empty()) return {};
  const Bound& first = plan.bounds.front();
  const std::string name = capitalized(resource_with_count(first));
  const char* const verb = is_plural(first) ? "were" : "was";
  const std::string busy = format_percent(first.utilization);
  if (!plan.baseline.saturated) {
    if (first.resource == Resource::disk)
      return fmt::format(
          "Nothing was fully busy. Threads waited {} of the time, for the disk{}.", busy,
          plan.baseline.has_cpu_contention() ? " or for cores that other programs used" : "");
    return fmt::format("Nothing was fully busy. {} {} the busiest, {} of the time.", name, verb,
                       busy);
  }
  if (first.resource == Resource::disk && plan.baseline.has_cpu_contention()) {
    return fmt::format(
        "{} waited {} of the time, for the disk or for cores that other programs used; these logs "
        "do not show which.",
        text::format_count(first.servers, "thread"), busy);
  }
  if (first.resource == Resource::disk) {
    return fmt::format(
        "The disk is the limit: {} waited for it {} of the time. {}nother durability or a faster "
        "disk may do more; these logs do not show it.",
        text::format_count(first.servers, "thread"), busy,
        plan.baseline.has_explicit_threads() ? "More threads.load or threads.write, a" : "A");
  }
  std::string text = fmt::format("{} {} busy {} of the time: {} the limit.", name, verb, busy,
                                 is_plural(first) ? "they are" : "it is");
  if (!has_thread_setting(first.resource)) return text;
  if (!plan.baseline.has_explicit_threads() && first.resource != Resource::compute)
    return text + " With 'auto', a run adds threads as long as that makes it faster.";
  const bool is_gpu_lane = plan.gpus > 0 && first.resource == Resource::compute;
  return text + fmt::format(" Their number is a setting: raise {} before you buy anything.",
                            is_gpu_lane ? "the number of lanes"
                                        : thread_setting_name(*stage_of(first.resource)));
}

std::string next_limit_reason(const Plan& plan) {
  if (plan.bounds.size() < 2 || !plan.baseline.saturated || plan.baseline.has_cpu_contention())
    return {};
  const Bound& next = plan.bounds[1];
  const std::string name = resource_with_count(next);
  if (next.utilization > 0.995)
    return fmt::format("Next to it, {} {} as busy.", name, is_plural(next) ? "are" : "is");
  return fmt::format("The next limit: {}, at {}{}.", name,
                     next.is_lower_bound ? "no less than " : "",
                     format_images_per_s(next.rate_per_s.value));
}

std::string use_reason(const Plan& plan) {
  if (!plan.target) return {};
  const double used = plan.target->rate_per_s / plan.current_capacity.rate_per_s.value;
  if (used > 1) return {};
  return fmt::format(
      "At the target, {} machine works {}{} of the time.", plan.is_recorded() ? "that" : "this",
      plan.is_inconclusive() && !plan.is_recorded() ? "at most " : "", format_percent(used));
}

std::string requirement_reason(const Requirement& requirement, const Plan& plan) {
  const std::string gpus =
      plan.gpus > 0 ? " with " + text::format_count(requirement.gpus, "GPU") : "";
  if (!requirement.cores) {
    if (requirement.bottleneck == Resource::disk && plan.is_disk_guess()) return {};
    if (requirement.bottleneck == Resource::cores)
      return fmt::format("No number of cores is enough{}: cores slow each other down.", gpus);
    return fmt::format(
        "No number of cores is enough{}: the limit would be {}{}.", gpus,
        requirement.bottleneck == Resource::gpu || requirement.bottleneck == Resource::disk ? "the "
                                                                                            : "",
        limit_phrase({.bottleneck = requirement.bottleneck}, plan));
  }
  const bool is_more = *requirement.cores > plan.cores || requirement.gpus > plan.gpus;
  std::string cores = text::format_count(*requirement.cores, "core");
  if (*requirement.cores > plan.cores && !plan.scaling.is_known) cores = "at least " + cores;
  const auto safe = requirement.conservative_cores;
  const std::string to_be_safe = !safe ? " (no number is safe)"
                                 : *safe > *requirement.cores
                                     ? fmt::format(" ({} to be safe)", *safe)
                                     : "";
  return is_more ? fmt::format("One machine{} needs {}{}.", gpus, cores, to_be_safe)
                 : fmt::format("{}{} {} enough{}.", capitalized(cores), gpus,
                               *requirement.cores == 1 ? "is" : "are", to_be_safe);
}

std::string more_cores_reason(const Plan& plan) {
  if (plan.target || !plan.baseline.saturated || plan.baseline.has_cpu_contention()) return {};
  const double gain = plan.gain_per_s(plan.doubled_cores) / plan.current_capacity.rate_per_s.value;
  const std::string limit = limit_phrase(plan.doubled_cores, plan);
  if (plan.current_capacity.bottleneck == Resource::disk) return "More cores do not help.";
  if (gain < kMinGain) return fmt::format("More cores do not help: the limit stays {}.", limit);
  return fmt::format("{} do {}{} times as much.",
                     text::format_count(plan.doubled_cores.cores, "core"),
                     plan.scaling.is_known ? "" : "at most ", text::format_number(1 + gain));
}

std::string more_gpus_reason(const Plan& plan) {
  if (plan.current_capacity.bottleneck != Resource::gpu || !plan.one_more_gpu) return {};
  const double gain = plan.gain_per_s(*plan.one_more_gpu) / plan.current_capacity.rate_per_s.value;
  return fmt::format("One more GPU adds {}.", format_percent(gain));
}

std::string growth_reason(const Plan& plan) {
  const ScalingAnalysis& scaling = plan.scaling;
  if (!scaling.is_known) return {};
  return fmt::format(
      "Each further core adds a little less: {} of the work runs on one core only (95 %: {}).",
      format_percent(scaling.serial_fraction.value), format_percent_range(scaling.serial_fraction));
}

}  // namespace

std::vector<std::string> reasons(const Plan& plan) {
  std::vector<std::string> all = {limit_reason(plan), next_limit_reason(plan), use_reason(plan)};
  if (plan.target && !(plan.is_inconclusive() && plan.target->headroom < 0)) {
    for (const Requirement& requirement : plan.target->requirements)
      all.push_back(requirement_reason(requirement, plan));
  }
  all.insert(all.end(), {more_cores_reason(plan), more_gpus_reason(plan), growth_reason(plan)});
  std::erase(all, "");
  return all;
}

}  // namespace eckart::capacity
