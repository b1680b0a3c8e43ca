#pragma once

#include "core/instant.hpp"

namespace eckart::app {

/// How many messages a worker takes ahead: so many that they are finished within seconds. The
/// broker closes the connection of a worker that holds a message for too long, and other workers
/// may be idle meanwhile.
class MessagePrefetch {
 public:
  /// `max`: at least kMin, the first value.
  explicit MessagePrefetch(int max) : max_(max) {}

  static constexpr int kMin = 2;  ///< one is fetched while another one is processed
  int value() const { return value_; }
  /// A message that was received at `received` is finished. Returns whether value() has changed.
  bool on_finished(Instant received, Instant now);

 private:
  int value_ = kMin;
  const int max_;
  int quickly_finished_ = 0;  // since the last change
  Instant changed_at_{};
};

}  // namespace eckart::app
