#pragma once

#include "core/image.hpp"

namespace eckart::analysis {

/// The side of the window of ssim().
constexpr int kSsimWindow = 7;

/// Mean structural similarity of two images of the same shape, at most 1 (Wang, Bovik, Sheikh and
/// Simoncelli, "Image quality assessment: from error visibility to structural similarity", IEEE
/// Transactions on Image Processing 13, 2004): a uniform window of 7 x 7 pixels, sample covariance,
/// K1 = 0.01, K2 = 0.03, the mean over all windows inside the image and over the channels. This is
/// `skimage.metrics.structural_similarity(a, b, data_range=peak, channel_axis=-1)`. `peak` is in
/// levels. In float64; no window depends on the samples outside of it, so that it is accurate for
/// floats of any values. NaN if a side is shorter than the window, or if `peak` is 0 and a window
/// is constant.
double ssim(const Image& a, const Image& b, double peak);

}  // namespace eckart::analysis
