#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/operation/batch.hpp"
#include "bench/operation/call_times.hpp"
#include "bench/operation/ceilings.hpp"

namespace eckart::bench {

/// A way to reconstruct pixels.
struct PixelVariant {
  enum class Kind {
    one_kernel,  ///< of runs: multiplies, rounds and compares
    library,     ///< a product by a library, and a kernel that rounds
    run,         ///< the same with the kernel of runs
  };
  enum class Arithmetic { float32, float64, float16_products };

  std::string name;
  Arithmetic arithmetic = Arithmetic::float32;
  Kind kind = Kind::one_kernel;
  int cores = 0;         ///< of the CPU; 0: on a GPU
  double occupancy = 0;  ///< see Variant; 0: unknown

  bool is_on_gpu() const { return cores == 0; }
  bool is_float64() const { return arithmetic == Arithmetic::float64; }
};

/// An image and how much it differs.
struct ReconstructedPixels {
  std::vector<std::uint8_t> pixels;
  double squared_error = 0;  ///< from original_pixels(), in levels^2, computed with the pixels
};

/// A batch that is reconstructed from factors in the memory of a device to rounded pixels there,
/// which are compared with the original ones: what a run does after the decomposition.
class PixelReconstruction {
 public:
  virtual ~PixelReconstruction() = default;
  virtual const std::vector<PixelVariant>& variants() const = 0;
  /// All images once. Operands are the factors, results the pixels.
  virtual CallTimes run(std::size_t variant) = 0;
  /// All images, into memory that was cleared before; returns this one.
  virtual ReconstructedPixels result(std::size_t variant, int image) = 0;
};

/// Multiplications and additions of a batch: 2 m n k for each image.
double pixel_flops(const BatchShape& shape);
/// Bytes that this variant must move: the factors, the original pixels, and those that it writes.
double pixel_bytes(const BatchShape& shape, const PixelVariant& variant);
/// The shortest time of the variant by these ceilings, in seconds.
double shortest_time(const BatchShape& shape, const PixelVariant& variant,
                     const Ceilings& ceilings);

/// The pixels that an image is compared with: noise.
std::vector<std::uint8_t> original_pixels(const BatchShape& shape, int image);

/// The sum of the squared differences, in levels^2.
double squared_difference(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b);

}  // namespace eckart::bench
