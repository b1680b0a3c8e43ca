#pragma once

#include <chrono>
#include <stop_token>

namespace eckart::flow {

/// Waits that long, or until `stop` is requested. Whether it was not.
bool pause(std::chrono::milliseconds time, const std::stop_token& stop);

}  // namespace eckart::flow
