#include "capacity/plan_phrases.hpp"

#include <cmath>

#include "capacity/number_format.hpp"
#include "text/format_count.hpp"
#include "text/format_number.hpp"

namespace eckart::capacity {

std::string machine_phrase(const Plan& plan, int cores, int gpus) {
  std::string text = text::format_count(cores, "core");
  if (plan.gpus > 0) text += " and " + text::format_count(gpus, "GPU");
  return text;
}

std::string format_images_per_s(double rate) { return text::format_number(rate) + " images/s"; }

std::string headroom_phrase(double headroom) {
  if (headroom >= 1) return text::format_number(1 + headroom) + " times as much";
  return format_percent(std::abs(headroom)) + (headroom >= 0 ? " more" : " less");
}

std::string thread_setting_name(Stage stage) {
  return stage == Stage::compute ? "cpu.lanes" : "threads." + std::string(to_string(stage));
}

bool has_thread_setting(Resource resource) {
  return resource == Resource::load || resource == Resource::write || resource == Resource::compute;
}

}  // namespace eckart::capacity
