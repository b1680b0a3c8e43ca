#pragma once

#include <span>

namespace eckart::analysis {

/// The knee of a curve that rises and flattens: the rank k, from 1 to n, with the largest distance
///   (E(k) - E(1)) / (E(n) - E(1)) - (k - 1) / (n - 1)
/// above the line between its ends; the smallest if there are several. This is the knee of
/// Kneedle without smoothing (Satopaa, Albrecht, Irwin and Raghavan, Finding a "kneedle" in a
/// haystack: detecting knee points in system behavior, 2011). `energy`: E at each rank, not empty.
/// 1 for a flat curve.
int knee_rank(std::span<const double> energy);

}  // namespace eckart::analysis
