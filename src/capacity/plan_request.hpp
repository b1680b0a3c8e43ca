#pragma once

#include <optional>
#include <string>
#include <vector>

#include "capacity/parse_quantity.hpp"

namespace eckart::capacity {

/// Optional questions, in addition to the standard predictions.
struct PlanRequest {
  std::optional<double> target_per_s = {};  ///< the rate needed while the machine works
  std::string target_phrase = {};  ///< "50M a month in shifts of 8 h"; empty: the rate says it
  std::optional<double> images = {};
  std::string images_phrase = {};          ///< "500k images"
  double shift_s = kDaySeconds;            ///< how long the machine works each day
  std::vector<int> cores = {}, gpus = {};  ///< further predictions
  std::vector<int> fit_cores = {};  ///< predict from runs on these cores only; empty: from all runs
  std::optional<Prices> prices = {};
  std::optional<double> watts = {};  ///< power of this machine

  /// The images of a month at this rate, in the hours of the shift.
  double images_per_month(double rate_per_s) const {
    return rate_per_s * shift_s / kDaySeconds * kMonthSeconds;
  }
  double hours_per_month() const { return images_per_month(1) / 3600; }
};

/// Sets the target of `request`. Images per day or longer have to be done within the shift. A rate
/// per second, minute or hour is a rate while the machine works. Set the shift before.
void set_target(PlanRequest& request, const TargetRate& target);
void set_target(PlanRequest& request, const ImageCount& images, const Deadline& deadline);

}  // namespace eckart::capacity
