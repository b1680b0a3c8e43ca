#include "compute/cpu/symmetric_eigen.hpp"

#include "compute/cpu/lapack_info.hpp"

namespace eckart::compute::cpu {

void resize_padded(std::vector<double>& values, std::size_t size) {
  constexpr std::size_t kPadding = 64;
  values.resize(size + kPadding);
}

void SymmetricEigenSolver::operator()(Job job, int n, std::vector<double>& matrix_nn,
                                      std::vector<double>& values) {
  values.resize(std::size_t(n));
  const auto decompose = [&](double* work, lapack_int size, lapack_int* integers,
                             lapack_int integer_size) {
    check_lapack(
        LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, job == Job::values ? 'N' : 'V', 'L', n,
                            matrix_nn.data(), n, values.data(), work, size, integers, integer_size),
        "dsyevd");
  };
  double size = 0;
  lapack_int integer_size = 0;
  decompose(&size, -1, &integer_size, -1);
  resize_padded(workspace_, std::size_t(size));
  integer_workspace_.resize(std::size_t(integer_size));
  decompose(workspace_.data(), lapack_int(size), integer_workspace_.data(), integer_size);
}

}  // namespace eckart::compute::cpu
