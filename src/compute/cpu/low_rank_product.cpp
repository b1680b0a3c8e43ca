#include "compute/cpu/low_rank_product.hpp"

#include <cblas.h>

#include <algorithm>
#include <cstdlib>
#include <type_traits>

#include "compute/cpu/matrix_size.hpp"

namespace eckart::compute::cpu {

template <class Real>
void change_rank(const Factors<Real>& factors, int from, int to, std::vector<Real>& values) {
  if (from == to) return;
  const int m = factors.m, n = factors.n, first = std::min(from, to), count = std::abs(to - from);
  const Real sign = to > from ? 1 : -1, keep = from == 0 ? 0 : 1;
  const Real *v = factors.v_nk.data() + size(n, first), *p = factors.p_mk.data() + size(m, first);
  if constexpr (std::is_same_v<Real, float>) {
    cblas_sgemm(CblasColMajor, CblasNoTrans, CblasTrans, n, m, count, sign, v, n, p, m, keep,
                values.data(), n);
  } else {
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, n, m, count, sign, v, n, p, m, keep,
                values.data(), n);
  }
}

template void change_rank(const Factors<float>&, int, int, std::vector<float>&);
template void change_rank(const Factors<double>&, int, int, std::vector<double>&);

}  // namespace eckart::compute::cpu
