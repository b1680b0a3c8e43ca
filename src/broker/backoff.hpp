#pragma once

#include <chrono>
#include <random>

namespace eckart::broker {

/// Waits between attempts to connect: random, so that many clients of a broker that was restarted
/// do not come at the same time, and longer after each failure.
class Backoff {
 public:
  using Duration = std::chrono::milliseconds;
  /// The first limit is `first`; it doubles with each failure up to `max`.
  Backoff(Duration first, Duration max, std::uint64_t seed = std::random_device{}());

  /// Returns a wait from half of the limit to the limit.
  Duration next();
  /// Call it after a success.
  void reset() { limit_ = first_; }

 private:
  const Duration first_, max_;
  Duration limit_ = first_;
  std::mt19937_64 random_;
};

}  // namespace eckart::broker
