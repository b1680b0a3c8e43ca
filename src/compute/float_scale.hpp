#pragma once

#include "compute/backend.hpp"
#include "core/matrix_view.hpp"

namespace eckart::compute {

/// The power of two that brings the largest magnitude of the samples to at least 2^23 and below
/// 2^24. There, neighboring float32 numbers differ by 1: what holds for errors of integer samples
/// in levels then holds for the largest samples in their last binary digit. 1 if all are zero.
double float_scale(MatrixView<const float> samples);

/// Converts the result of samples multiplied by `scale` to that of the samples.
void unscale(PlaneResult& result, double scale);

}  // namespace eckart::compute
