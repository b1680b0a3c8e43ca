#pragma once

namespace eckart::compute {

/// Probe vectors for a bound of ||C||_2^2, where C = A (I - QQ') and Q is a basis of the subspace.
/// For a fixed matrix C and r independent standard normal vectors w_j,
///   ||p(CC') C||_2 <= alpha sqrt(2 / pi) max_j ||p(CC') C w_j||
/// fails with a probability of at most alpha^-r (Halko, Martinsson and Tropp, 2011, lemma 4.1,
/// applied to p(CC') C). p is the Chebyshev polynomial of degree d on [0, cutoff], where |p| <= 1.
/// Above the cutoff the left side grows fast with ||C||_2^2. So the bound is close even if most of
/// ||C||_F^2 comes from many small singular values.
///
/// The program uses the same vectors for all planes. The probability holds for matrices that were
/// made without knowledge of them.
///
/// With 16 vectors and alpha = 7 one bound fails with a probability of 3e-14, and any of the
/// degrees 0 to kMaxProbeDegree with 3e-13. docs/explanation/numerics.md defines this probability.
constexpr int kProbeVectors = 16;
constexpr int kMaxProbeDegree = 8;

/// A bound of ||C||_2^2. `largest_squared_probe` is max_j ||T_d(2 CC' / cutoff - 1) C w_j||^2 for
/// degree d. Requires 0 <= d <= kMaxProbeDegree and cutoff > 0. If d > 0, the result is at least
/// the cutoff.
double squared_norm_bound(double largest_squared_probe, int degree, double cutoff);

}  // namespace eckart::compute
