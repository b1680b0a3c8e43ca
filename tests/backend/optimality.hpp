#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "synth/synth.hpp"
#include "tests/backend/backend_fixture.hpp"
#include "tests/support/reference_svd.hpp"

namespace eckart::test {

Image make_image(synth::SynthKind kind, int rows, int cols, int channels = 1,
                 Depth depth = Depth::u8);

/// Expects what holds for any image, compared with the float64 SVD: the result is optimal, and the
/// reported values are correct.
void expect_optimal(const Image& image, const compute::Task& task, const std::vector<int>& ranks);
/// The same, if the float64 SVD of each channel is known.
void expect_optimal(const Image& image, const compute::Task& task, const std::vector<int>& ranks,
                    std::span<const ReferenceSvd> svds);

/// Expects that no output of a gray image has lost more than its certificate says.
void expect_valid_certificate(const Image& image, const compute::Task& task,
                              const std::vector<int>& ranks);

/// Compares the pixels of gray 8-bit images with those of the float64 SVD. Expects that they differ
/// by one level at most, at ties, and that the error is larger by at most 0.01 dB.
class PixelComparison {
 public:
  void add(const Image& image, const ReferenceSvd& svd, int k, const Image& output);
  double different_share() const { return double(different_) / double(compared_); }

 private:
  std::int64_t different_ = 0, compared_ = 0;
};

}  // namespace eckart::test
