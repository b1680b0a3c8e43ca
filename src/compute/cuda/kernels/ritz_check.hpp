#pragma once

#include <cuda_runtime.h>

namespace eckart::cuda {

/// What ritz_check() reads: Ritz pairs of symmetric matrices G, found in spaces of dimension l.
struct RitzPairs {
  int n, l, k;
  const double* g_nn;      ///< the matrices
  const double* v_nk;      ///< k Ritz vectors, ascending, column-major n x k each
  const double* gv_nk;     ///< G times them
  const double* values_l;  ///< all l Ritz values, ascending
};

/// Tells which matrices' leading Ritz pairs are settled, from their residuals r_i = ||G v_i -
/// theta_i v_i||. By first-order perturbation, v_i misses the true vector by r_i / (theta_i - mu),
/// where mu bounds what is outside the space (here: the Ritz value half-way between the k-th and
/// the last), so that the reconstruction's entries are off by sqrt(sum_i theta_i (r_i / (theta_i -
/// mu))^2 / entries) in the root mean square. Where fewer than k pairs hold any energy, what the
/// space has missed, trace G - sum theta, counts as well. Sets info to 1 where all this is more
/// than `tolerance`; leaves it where it is not 0 already.
void ritz_check(const RitzPairs& pairs, double entries, double tolerance, int count, int* info,
                cudaStream_t stream);

}  // namespace eckart::cuda
