#pragma once

#include <lapacke.h>

#include <cstddef>
#include <vector>

namespace eckart::compute::cpu {

/// Resizes a vector to which `dsymv` writes its result, also within LAPACK: behind its last number
/// are others that may be read. OpenBLAS 0.3.21 reads up to four past the end on CPUs that it does
/// not recognize.
void resize_padded(std::vector<double>& values, std::size_t size);

/// Eigenvalues of symmetric matrices by LAPACK. Keeps its workspace from call to call.
class SymmetricEigenSolver {
 public:
  enum class Job { values, values_and_vectors };

  /// Sets `values` to the n eigenvalues in ascending order. Reads the lower triangle of the n x n
  /// matrix, and replaces the matrix by the eigenvectors, or overwrites it. Throws as
  /// check_lapack().
  void operator()(Job job, int n, std::vector<double>& matrix_nn, std::vector<double>& values);

 private:
  std::vector<double> workspace_;
  std::vector<lapack_int> integer_workspace_;
};

}  // namespace eckart::compute::cpu
