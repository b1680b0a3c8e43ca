#pragma once

#include <vector>

#include "synth/synth.hpp"
#include "tests/backend/backend_fixture.hpp"
#include "tests/support/reference_svd.hpp"

namespace eckart::test {

Image make_image(SynthKind kind, int rows, int cols, int channels = 1, Depth depth = Depth::u8);

/// The claims that hold for any image, against the float64 SVD: the optimum is reached, and what is
/// reported is so.
void expect_optimal(const Image& image, const Task& task, const std::vector<int>& ranks);

/// Of a gray image, that nothing has lost more than its certificate says.
void expect_valid_certificate(const Image& image, const Task& task, const std::vector<int>& ranks);

}  // namespace eckart::test
