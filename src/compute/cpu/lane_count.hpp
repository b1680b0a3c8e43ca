#pragma once

#include "compute/backend.hpp"

namespace eckart::compute::cpu {

/// An OpenBLAS built without threads does not lock its buffers. Two lanes would share one.
bool is_openblas_thread_safe();

/// The number of lanes of a CPU backend with these options.
int choose_lane_count(const BackendOptions& options);

}  // namespace eckart::compute::cpu
