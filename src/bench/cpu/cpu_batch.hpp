#pragma once

#include <memory>

#include "bench/operation/batch.hpp"

namespace eckart::bench {

/// Reconstructs a batch with OpenBLAS: `images_at_once` images, each on `cores_per_image` cores.
/// While it runs, no other thread may use OpenBLAS.
std::unique_ptr<PreparedBatch> make_cpu_batch(const BatchShape& shape, int images_at_once,
                                              int cores_per_image);

}  // namespace eckart::bench
