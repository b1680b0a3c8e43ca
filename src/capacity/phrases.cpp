#include "capacity/phrases.hpp"

#include <cmath>

#include "capacity/figures.hpp"

namespace eckart::capacity {

std::string machine_in_words(const Plan& plan, int cores, int gpus) {
  std::string text = counted(cores, "core");
  if (plan.gpus > 0) text += " and " + counted(gpus, "GPU");
  return text;
}

std::string images_per_s(double rate) { return figure(rate) + " images/s"; }

std::string headroom_words(double headroom) {
  if (headroom >= 1) return figure(1 + headroom) + " times as much";
  return percent(std::abs(headroom)) + (headroom >= 0 ? " more" : " less");
}

std::string setting_of(const std::string& stage) {
  return stage == "compute" ? "cpu.lanes" : "threads." + stage;
}

bool is_auto_stage(const std::string& resource) {
  return resource == "load" || resource == "write" || resource == "compute";
}

}  // namespace eckart::capacity
