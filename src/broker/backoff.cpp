#include "broker/backoff.hpp"

#include <algorithm>

namespace eckart::broker {

Backoff::Backoff(Duration first, Duration max, std::uint64_t seed)
    : first_(first), max_(max), random_(seed) {}

Backoff::Duration Backoff::next() {
  std::uniform_int_distribution<Duration::rep> wait(limit_.count() / 2, limit_.count());
  const Duration result(wait(random_));
  limit_ = std::min(2 * limit_, max_);
  return result;
}

}  // namespace eckart::broker
