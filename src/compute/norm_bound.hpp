#pragma once

namespace eckart {

/// Probe vectors for a bound of ||C||_2^2, where C = A (I - QQ') is what a subspace Q of A has not
/// captured. For fixed C and r independent standard normal vectors w_j,
///   ||p(CC') C||_2 <= alpha sqrt(2 / pi) max_j ||p(CC') C w_j||
/// fails with probability alpha^-r at most (Halko, Martinsson and Tropp 2011, lemma 4.1, for the
/// matrix p(CC') C). With p the Chebyshev polynomial of degree d that is at most 1 in size on
/// [0, cutoff], the left side grows fast in ||C||^2 above the cutoff, so that the bound is near it
/// though most of ||C||_F^2 is in many small singular values.
///
/// The program draws the vectors once, so this holds for matrices that were not made from them.
///
/// With 16 vectors and alpha = 6.5 one bound fails with a probability of 1e-13, and all the degrees
/// from 0 to kMaxProbeDegree together with 9e-13. Over what that probability is:
/// docs/explanation/numerics.md.
constexpr int kProbeVectors = 16;
constexpr int kMaxProbeDegree = 8;

/// The bound of ||C||_2^2. `largest_squared_probe` is max_j ||T_d(2 CC' / cutoff - 1) C w_j||^2 for
/// the degree d, 0 <= d <= kMaxProbeDegree; cutoff > 0. Never less than the cutoff if d > 0.
double squared_norm_bound(double largest_squared_probe, int degree, double cutoff);

}  // namespace eckart
