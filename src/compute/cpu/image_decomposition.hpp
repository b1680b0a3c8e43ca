#pragma once

#include <memory>
#include <span>
#include <vector>

#include "compute/rank_rule.hpp"
#include "core/image.hpp"

namespace eckart::compute::cpu {

class PlaneDecomposition;

/// A complete decomposition of an image in float64: all singular values of each channel, and the
/// reconstruction at any ranks. Used by one thread.
class ImageDecomposition {
 public:
  /// Computes the singular values, each channel on its own thread. Sets the number of threads of
  /// BLAS to 1. The image must outlive this object. Throws as Float64Solver does, and
  /// std::bad_alloc.
  explicit ImageDecomposition(const Image& image);
  ~ImageDecomposition();

  const ImageShape& shape() const { return shape_; }
  /// The spectrum of each channel; refers to this object.
  std::vector<PlaneSpectrum> spectra() const;

  /// Computes the singular vectors for reconstruct(). `max_ranks`: the largest rank of each
  /// channel, from 1 to min(rows, cols). Call it once. Throws as the constructor.
  void compute_vectors(std::span<const int> max_ranks);

  /// Reconstructs each channel at its rank, from 1 to the largest. Only the triplets between the
  /// previous ranks and these are computed. `rounded` has the shape of the image. Returns the
  /// squared error before clamping and rounding; if it is rounding of float64, 0.
  double reconstruct(std::span<const int> ranks, Image& rounded);

 private:
  const Image& image_;
  const ImageShape shape_;
  std::vector<std::unique_ptr<PlaneDecomposition>> planes_;
};

}  // namespace eckart::compute::cpu
