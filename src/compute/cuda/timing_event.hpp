#pragma once

#include <chrono>

#include "compute/cuda/raii.hpp"

namespace eckart::compute::cuda {

/// An event whose time can be read. Throws as check() does.
Event make_timing_event();

/// The time between two timing events of the same device, whose work must be complete. Throws as
/// check() does.
std::chrono::nanoseconds elapsed(const Event& from, const Event& to);

}  // namespace eckart::compute::cuda
