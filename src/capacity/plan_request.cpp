#include "capacity/plan_request.hpp"

#include <algorithm>
#include <cmath>

#include "text/format_number.hpp"

namespace eckart::capacity {
namespace {

std::string shift_phrase(const PlanRequest& request) {
  if (request.shift_s >= kDaySeconds) return {};
  const double hours = request.shift_s / 3600;
  const bool is_whole = hours == std::floor(hours);
  return " in shifts of " + (is_whole ? std::to_string(int(hours)) : text::format_number(hours)) +
         " h";
}

}  // namespace

void set_target(PlanRequest& request, const TargetRate& target) {
  const bool is_daily = target.period_s >= kDaySeconds;
  request.target_per_s = target.per_s() * (is_daily ? kDaySeconds / request.shift_s : 1);
  if (target.period_s > 1)
    request.target_phrase = target.phrase + (is_daily ? shift_phrase(request) : "");
}

void set_target(PlanRequest& request, const ImageCount& images, const Deadline& deadline) {
  const double days = std::floor(deadline.seconds / kDaySeconds);
  const double working_s =
      days * request.shift_s + std::min(request.shift_s, deadline.seconds - days * kDaySeconds);
  request.target_per_s = images.images / working_s;
  request.target_phrase = images.phrase + " " + deadline.phrase;
  if (deadline.seconds > request.shift_s) request.target_phrase += shift_phrase(request);
}

}  // namespace eckart::capacity
