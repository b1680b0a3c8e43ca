#pragma once

#include <cstddef>

namespace eckart {

/// Peak signal-to-noise ratio in dB of `samples` samples with this summed squared error:
/// 10 log10(peak^2 * samples / squared_error); infinity where the error is zero.
double psnr_db(double squared_error, std::size_t samples, int peak);

/// What a reconstruction may lose against Eckart and Young's optimum, in dB before rounding: one
/// that may have lost more is made again in float64.
constexpr double kMaxLossDb = 0.01;

/// Whether a squared error, summed over a plane in levels^2, counts as none: no sample can be off
/// by half a level, so that the pixels written are the input's. Two such errors are the same.
bool is_negligible(double squared_error);

/// Whether what was written is the image itself: by the squared error of its pixels, exactly, and
/// that before rounding, which must be a number. The largest images' rounding errors alone are not
/// negligible in all.
bool is_exact_reconstruction(double squared_error, double residual);

/// The larger of two proven bounds; NaN, which says that nothing is proven, if either is.
double max_loss_bound_db(double a, double b);

/// By how many dB `squared_error` is worse than the optimum `optimal_error`, both summed over a
/// plane in levels^2; what is negligible is all the same.
double loss_db(double squared_error, double optimal_error);

}  // namespace eckart
