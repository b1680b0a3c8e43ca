#pragma once

#include <memory>
#include <string>

#include "bench/operation/device.hpp"

namespace eckart::bench {

/// How the peaks are measured.
enum class PeakMeasurement {
  full,
  brief,  ///< with small arrays, in some milliseconds, for tests: less than the peaks
};

/// Computes with plain loops, and with OpenBLAS on one core and on `cores` cores. While one of its
/// operations runs, no other thread may use OpenBLAS.
std::unique_ptr<Device> make_cpu_device(int cores, PeakMeasurement peaks = PeakMeasurement::full);

/// Copies memory on some cores.
RepeatableWork make_cpu_copy(int cores, std::size_t bytes);
/// Maps memory, writes it once, so that it gets pages, and unmaps it. The work throws
/// std::bad_alloc.
RepeatableWork make_cpu_allocation(std::size_t bytes);
/// Writes memory that has pages.
RepeatableWork make_cpu_write(std::size_t bytes);

/// Why OpenBLAS does not use all of this CPU, and what helps; empty if it does.
std::string openblas_warning();

}  // namespace eckart::bench
