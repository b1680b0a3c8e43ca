#include <random>
#include <stdexcept>

#include "compute/cuda/kernels/inverse_cholesky.hpp"
#include "compute/cuda/kernels/ritz_check.hpp"
#include "compute/cuda/solvers/batched.hpp"
#include "compute/solver_choice.hpp"

namespace eckart::cuda {
namespace {

// Root mean square, in levels, by which a reconstruction may miss the exact one before rounding. It
// moves fewer than one pixel in 20,000 to its neighbouring level.
constexpr double kTolerance = 2e-5;

/// Block subspace iteration on G = A'A with l > k columns, then Rayleigh and Ritz, all in float64:
/// Y = G Z, Z = Y R^-1 where Y'Y = R'R; at the end Z'GZ = W Theta W', V = Z W. Float64 has room for
/// the squared condition of G, and for a Cholesky factor of Y'Y every round.
class SubspaceSolver : public BatchSolver {
 public:
  explicit SubspaceSolver(int rounds) : rounds_(rounds) {}

  Spectrum spectrum(int, int rank) const override { return {ValueOrder::ascending_squares, rank}; }

  std::size_t workspace_bytes(const Handles& handles, const Problem& p) override {
    const Sizes sizes(p);
    reserve_start(handles.stream, p.n, sizes.l);
    return Carver::bytes<double>(sizes.gram) + 2 * Carver::bytes<double>(sizes.block) +
           Carver::bytes<double>(sizes.small) + Carver::bytes<double>(sizes.values) +
           eigen_.workspace_bytes(handles, sizes.l, p.count);
  }

  void solve(const Handles& handles, const Problem& p, const Factorization& batch) override {
    const Sizes sizes(p);
    const int m = p.m, n = p.n, l = sizes.l, count = p.count, k = p.rank;
    Carver carver(batch.workspace);
    double* gram_nn = carver.take<double>(sizes.gram);
    double* y_nl = carver.take<double>(sizes.block);
    double* z_nl = carver.take<double>(sizes.block);
    double* small_ll = carver.take<double>(sizes.small);
    double* values_l = carver.take<double>(sizes.values);
    const Operand a{CUBLAS_OP_N, batch.a_t_nm, n, std::int64_t(n) * m};
    const Operand a_t{CUBLAS_OP_T, batch.a_t_nm, n, std::int64_t(n) * m};
    const Operand g{CUBLAS_OP_N, gram_nn, n, std::int64_t(n) * n};
    const auto block = [&](const double* data) {
      return Operand{CUBLAS_OP_N, data, n, std::int64_t(n) * l};
    };
    const auto block_t = [&](const double* data) {
      return Operand{CUBLAS_OP_T, data, n, std::int64_t(n) * l};
    };
    const Operand small{CUBLAS_OP_N, small_ll, l, std::int64_t(l) * l};
    const auto orthonormalise = [&](const double* from, double* to) {
      multiply(handles, l, l, n, block_t(from), block(from), small_ll, count);
      inverse_cholesky(small_ll, l, count, handles.stream);
      multiply(handles, n, l, l, block(from), small, to, count);
    };

    multiply(handles, n, n, m, a, a_t, gram_nn, count);
    multiply(handles, n, l, n, g, {CUBLAS_OP_N, start_nl_.as<double>(), n, 0}, y_nl, count);
    for (int round = 1; round < rounds_; ++round) {
      orthonormalise(y_nl, z_nl);
      multiply(handles, n, l, n, g, block(z_nl), y_nl, count);
    }
    orthonormalise(y_nl, z_nl);  // leaves what one Cholesky cannot see
    orthonormalise(z_nl, y_nl);
    std::swap(y_nl, z_nl);
    multiply(handles, n, l, n, g, block(z_nl), y_nl, count);
    multiply(handles, l, l, n, block_t(z_nl), block(y_nl), small_ll, count);
    eigen_.solve(handles, small_ll, l, count, values_l, batch.info, carver.take<std::byte>(0),
                 eigen_.workspace_bytes(handles, l, count));

    // The leading k: V = Z W_k, its values, and G V in place of Z, for the check.
    const Operand leading{CUBLAS_OP_N, small_ll + std::int64_t(l - k) * l, l, std::int64_t(l) * l};
    multiply(handles, n, k, l, block(z_nl), leading, batch.v, count);
    multiply(handles, n, k, l, block(y_nl), leading, z_nl, count);
    ECKART_CUDA_CHECK(cudaMemcpy2DAsync(batch.values, sizeof(double) * std::size_t(k),
                                        values_l + (l - k), sizeof(double) * std::size_t(l),
                                        sizeof(double) * std::size_t(k), std::size_t(count),
                                        cudaMemcpyDeviceToDevice, handles.stream));
    ritz_check({n, l, k, gram_nn, batch.v, z_nl, values_l}, double(m) * n, kTolerance, count,
               batch.info, handles.stream);
  }

 private:
  /// Elements of the workspace's parts.
  struct Sizes {
    explicit Sizes(const Problem& p)
        : l(subspace_columns(p.rank)),
          gram(std::size_t(p.n) * std::size_t(p.n) * std::size_t(p.count)),
          block(std::size_t(p.n) * std::size_t(l) * std::size_t(p.count)),
          small(std::size_t(l) * std::size_t(l) * std::size_t(p.count)),
          values(std::size_t(l) * std::size_t(p.count)) {
      if (l > p.n) {
        throw std::runtime_error("the subspace solver does not take rank " +
                                 std::to_string(p.rank) + " of " + std::to_string(p.n) +
                                 " columns");
      }
    }
    int l;
    std::size_t gram, block, small, values;
  };

  /// The same random start for every matrix, on every machine: n x l values of a fixed generator.
  void reserve_start(cudaStream_t stream, int n, int l) {
    if (n * l <= start_elements_) return;
    ECKART_CUDA_CHECK(cudaStreamSynchronize(stream));  // a batch may be reading the old one
    start_elements_ = 0;
    std::vector<double> start(std::size_t(n) * std::size_t(l));
    std::mt19937_64 random(1936);
    for (double& value : start) value = double(random() >> 11) * 0x1p-52 - 1.0;  // [-1, 1)
    start_nl_.reserve(start.size() * sizeof(double));
    ECKART_CUDA_CHECK(cudaMemcpyAsync(start_nl_.as<double>(), start.data(),
                                      start.size() * sizeof(double), cudaMemcpyHostToDevice,
                                      stream));
    ECKART_CUDA_CHECK(cudaStreamSynchronize(stream));
    start_elements_ = n * l;
  }

  const int rounds_;  // products with G
  BatchedSymmetricEigen eigen_;
  DeviceBuffer start_nl_;
  int start_elements_ = 0;
};

}  // namespace

std::unique_ptr<BatchSolver> make_subspace_solver(int rounds) {
  return std::make_unique<SubspaceSolver>(rounds);
}

}  // namespace eckart::cuda
