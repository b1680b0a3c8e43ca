#pragma once

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

/// Expects that no output of a gray image has lost more than its certificate says.
void expect_valid_certificate(const Image& image, const compute::Task& task,
                              const std::vector<int>& ranks);

}  // namespace eckart::test
