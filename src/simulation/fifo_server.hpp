#pragma once

#include <algorithm>

namespace eckart::simulation {

/// A server with a constant rate that serves its requests in order of arrival. A request must not
/// arrive before the previous one.
class FifoServer {
 public:
  /// `rate`: work per s; 0: no limit.
  explicit FifoServer(double rate = 0) : rate_(rate) {}

  /// Adds a request that arrives at `now`. Returns the time at which it is finished, in s.
  double serve(double now, double work) {
    if (rate_ == 0) return now;
    const double service_s = work / rate_;
    busy_s_ += service_s;
    free_at_ = std::max(now, free_at_) + service_s;
    return free_at_;
  }
  /// Removes the work that is not done at `now`, and the requests with it.
  void cancel(double now) {
    busy_s_ -= std::max(0.0, free_at_ - now);
    free_at_ = std::min(now, free_at_);
  }
  /// Changes the rate of later requests.
  void set_rate(double rate) { rate_ = rate; }
  /// The time of all requests.
  double busy_s() const { return busy_s_; }

 private:
  double rate_;
  double free_at_ = 0;
  double busy_s_ = 0;
};

}  // namespace eckart::simulation
