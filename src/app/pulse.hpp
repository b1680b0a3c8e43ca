#pragma once

#include <cstdint>
#include <optional>

#include "app/service.hpp"
#include "compute/probe.hpp"

namespace eckart::app {

/// Whether a service lives. Made, used and destroyed on one thread, while the service executes.
class Pulse {
 public:
  explicit Pulse(Service& service) : service_(service) {}

  /// Whether work has moved since the last call, or else every GPU still computes what a Probe
  /// asks; waits for as long as a device does that hangs. Where one is lost the service is stopped,
  /// and its execute() throws that.
  bool beats();

 private:
  Service& service_;
  std::int64_t last_done_ = -1;
  std::optional<Probe> probe_;
};

}  // namespace eckart::app
