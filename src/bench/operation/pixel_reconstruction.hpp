#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/operation/batch.hpp"

namespace eckart::bench {

/// A way to reconstruct pixels.
struct PixelVariant {
  enum class Kind {
    one_kernel,  ///< of runs: multiplies, rounds and compares
    library,     ///< a product by a library, and a kernel that rounds
    run,         ///< the same with the kernel of runs
  };
  std::string name;
  bool is_float64 = false;  ///< else in float32, or as accurate
  Kind kind = Kind::one_kernel;
};

/// An image and how much it differs.
struct ReconstructedPixels {
  std::vector<std::uint8_t> pixels;
  double squared_error = 0;  ///< from original_pixels(), in levels^2, computed with the pixels
};

/// A batch that is reconstructed from factors in the memory of a GPU to rounded pixels there, which
/// are compared with the original ones: what a run does after the decomposition.
class PixelReconstruction {
 public:
  virtual ~PixelReconstruction() = default;
  virtual const std::vector<PixelVariant>& variants() const = 0;
  /// All images once. Returns seconds by events of the GPU, with empty caches.
  virtual double run(std::size_t variant) = 0;
  /// All images, into memory that was cleared before; returns this one.
  virtual ReconstructedPixels result(std::size_t variant, int image) = 0;
};

/// The pixels that an image is compared with: noise.
std::vector<std::uint8_t> original_pixels(const BatchShape& shape, int image);

/// The sum of the squared differences, in levels^2.
double squared_difference(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b);

}  // namespace eckart::bench
