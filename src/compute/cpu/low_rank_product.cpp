#include "compute/cpu/low_rank_product.hpp"

#include <cblas.h>

#include <algorithm>
#include <cstdlib>

#include "compute/cpu/matrix_size.hpp"

namespace eckart::compute::cpu {

void change_rank(const LowRankFactors& factors, int from, int to, std::vector<double>& values) {
  if (from == to) return;
  const int m = factors.m, n = factors.n, first = std::min(from, to), count = std::abs(to - from);
  const double sign = to > from ? 1 : -1, keep = from == 0 ? 0 : 1;
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, n, m, count, sign,
              factors.v_nk.data() + size(n, first), n, factors.p_mk.data() + size(m, first), m,
              keep, values.data(), n);
}

}  // namespace eckart::compute::cpu
