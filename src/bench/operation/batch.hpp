#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace eckart::bench {

/// A batch of images to be reconstructed from given factors: pixel = U diag(s) V', rounded and
/// clamped to 8 bits. U is m x k, V' is k x n, all row-major.
struct BatchShape {
  int images = 1, m = 1, n = 1, k = 1;

  std::string text() const;          ///< such as "64 of 256 × 256, k = 20"
  std::size_t factor_count() const;  ///< numbers of an image: those of U, s and V', in this order
  std::size_t pixel_count() const;   ///< of an image
};

/// The factors of an image: a gray image with random texture.
std::vector<float> random_factors(const BatchShape& shape, int image);

/// The pixels of an image, computed in float64.
std::vector<std::uint8_t> reference_pixels(const BatchShape& shape,
                                           const std::vector<float>& factors);

/// Whether pixels differ by at most one level, and only where the exact value is near the middle of
/// two levels: in one of a thousand pixels.
bool are_right(const std::vector<std::uint8_t>& pixels, const std::vector<std::uint8_t>& reference);

/// How the images of a batch share a GPU.
enum class Schedule {
  serial,           ///< an image is copied in, computed and copied out before the next begins
  streams,          ///< the same on several streams, image after image
  double_buffered,  ///< a stream each for copies in, computation and copies out; two buffers
  batched,          ///< all images are copied in, computed by one call, and copied out
};

enum class HostMemory { pageable, pinned };

/// What the engines of the GPU did during a batch, as shares of its time. Waiting of a copy or
/// computation for its engine, after its turn on its stream, counts as work of the engine.
struct EngineShares {
  double copy_in = 0, compute = 0, copy_out = 0;  ///< at work
  double overlap = 0;                             ///< at least two of them at work
};

/// A batch on a device.
class PreparedBatch {
 public:
  virtual ~PreparedBatch() = default;
  /// Reconstructs all images. Returns the time from the first call until all results are in the
  /// memory of the host, by its clock, in seconds.
  virtual double run() = 0;
  /// Clears all pixels.
  virtual void clear() = 0;
  /// The pixels of an image after run().
  virtual std::vector<std::uint8_t> pixels(int image) = 0;
  /// Runs once more, and measures the engines. All are 0 on the CPU.
  virtual EngineShares measure_engines() = 0;
};

}  // namespace eckart::bench
