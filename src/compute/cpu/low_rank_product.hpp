#pragma once

#include <vector>

namespace eckart::compute::cpu {

/// The factors of the products A_k = P_k V_k', for every k up to their number of columns.
struct LowRankFactors {
  const std::vector<double>& v_nk;  ///< column-major, n rows
  const std::vector<double>& p_mk;  ///< column-major, m rows
  int m = 0, n = 0;
};

/// Changes A_from to A_to, by the triplets between the two. `values` is the transposed product,
/// column-major n x m; if `from` is 0, only its size matters.
void change_rank(const LowRankFactors& factors, int from, int to, std::vector<double>& values);

}  // namespace eckart::compute::cpu
