#include "app/message_prefetch.hpp"

#include <algorithm>
#include <chrono>

namespace eckart::app {
namespace {

constexpr std::chrono::seconds kShort{5}, kLong{20};
constexpr int kGrowth = 4;

}  // namespace

/// Messages that were received before a change do not show its effect.
bool MessagePrefetch::on_finished(Instant received, Instant now) {
  if (received < changed_at_) return false;
  const auto held = now - received;
  int wanted = value_;
  if (held < kShort && ++quickly_finished_ >= value_) wanted = std::min(kGrowth * value_, max_);
  if (held > kLong) wanted = std::max(value_ / 2, kMin);
  if (wanted == value_) return false;
  value_ = wanted;
  quickly_finished_ = 0;
  changed_at_ = now;
  return true;
}

}  // namespace eckart::app
