#include "capacity/plan_phrases.hpp"

#include <spdlog/fmt/fmt.h>

#include <cmath>

#include "text/format_count.hpp"
#include "text/format_number.hpp"
#include "text/group_digits.hpp"

namespace eckart::capacity {

std::string machine_phrase(const Plan& plan, int cores, int gpus) {
  std::string text = text::format_count(cores, "core");
  if (plan.gpus > 0) text += " and " + text::format_count(gpus, "GPU");
  return text;
}

std::string format_images_per_s(double rate) { return text::format_number(rate) + " images/s"; }

std::string format_large_count(double count) {
  return count < 1e15 ? text::group_digits(std::llround(count)) : text::format_number(count);
}

std::string thread_setting_name(Stage stage) {
  return stage == Stage::compute ? "cpu.lanes" : "threads." + std::string(to_string(stage));
}

bool has_thread_setting(Resource resource) {
  return resource == Resource::load || resource == Resource::write || resource == Resource::compute;
}

bool is_plural(const Bound& bound) {
  return bound.servers != 1 && bound.resource != Resource::disk;
}

std::string resource_with_count(const Bound& bound) {
  const std::string count = is_plural(bound) ? text::group_digits(bound.servers) + " " : "";
  const char* const plural = is_plural(bound) ? "s" : "";
  switch (bound.resource) {
    case Resource::cores:
      return fmt::format("its {}core{}", count, plural);
    case Resource::gpu:
      return fmt::format("its {}GPU{}", count, plural);
    case Resource::disk:
      return "its disk";
    default:
      return fmt::format("its {}{} thread{}", count, to_string(bound.resource), plural);
  }
}

std::string part_name(const Bound& bound, const Plan& plan) {
  if (bound.resource == Resource::disk && plan.baseline.has_cpu_contention())
    return "disk or cores";
  return std::string(to_string(bound.resource)) + (stage_of(bound.resource) ? " threads" : "");
}

std::string limit_phrase(const Prediction& at, const Plan& plan) {
  if (!at.bottleneck) return "not known";
  if (at.bottleneck == Resource::disk && plan.is_disk_guess()) return "not known";
  const std::optional<Stage> stage = stage_of(*at.bottleneck);
  const auto fixed = stage ? plan.fixed_threads.find(*stage) : plan.fixed_threads.end();
  if (fixed != plan.fixed_threads.end())
    return fmt::format("{}={}", thread_setting_name(*stage), fixed->second);
  std::string name(to_string(*at.bottleneck));
  return stage ? name + " threads" : name;
}

}  // namespace eckart::capacity
