#pragma once

#include <memory>

#include "bench/operation/batch.hpp"
#include "bench/operation/pixel_reconstruction.hpp"

namespace eckart::bench {

/// Reconstructs a batch with OpenBLAS: `images_at_once` images, each on `cores_per_image` cores.
/// While it runs, no other thread may use OpenBLAS.
std::unique_ptr<PreparedBatch> make_cpu_batch(const BatchShape& shape, int images_at_once,
                                              int cores_per_image);

/// Reconstructs pixels with OpenBLAS, on one core and on all of `cores`. The same holds.
std::unique_ptr<PixelReconstruction> make_cpu_pixels(const BatchShape& shape, int cores);

}  // namespace eckart::bench
