#pragma once

#include <chrono>
#include <stop_token>

namespace eckart::flow {

/// Waits for `time` or until `stop` is requested. Returns false if stop was requested.
bool pause(std::chrono::milliseconds time, const std::stop_token& stop);

}  // namespace eckart::flow
