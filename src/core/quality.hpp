#pragma once

#include <cstddef>

namespace eckart {

/// Peak signal-to-noise ratio in dB: 10 log10(peak^2 * samples / squared_error). `squared_error` is
/// summed over all samples, in levels^2; `peak` in levels. Infinity if the error is zero.
double psnr_db(double squared_error, std::size_t samples, double peak);

/// A PSNR for means and tables: 99 dB in place of infinity, which an exact output has, and -99 in
/// place of -infinity, which a peak of 0 gives.
double finite_psnr_db(double psnr_db);

/// The largest loss of PSNR before rounding, in dB, against the optimum of Eckart and Young. A
/// plane that may have lost more is recomputed in float64.
constexpr double kMaxLossDb = 0.01;

/// Whether a squared error, summed over a plane in levels^2, is negligible: below 0.25, so that no
/// sample is off by half a level and the pixels written are those of the input.
bool is_negligible(double squared_error);

/// Whether the output equals the input: the squared error of its pixels is exactly zero and the
/// residual (before rounding) is finite. A threshold for the residual would not work: rounding
/// errors of large images add up to more than is negligible.
bool is_exact_reconstruction(double squared_error, double residual);

/// The larger of two loss bounds; NaN (not proven) if either is NaN.
double max_loss_bound_db(double a, double b);

/// The loss in dB of `squared_error` against `optimal_error`, both summed over a plane in levels^2.
/// Negligible errors count as equal.
double loss_db(double squared_error, double optimal_error);

}  // namespace eckart
