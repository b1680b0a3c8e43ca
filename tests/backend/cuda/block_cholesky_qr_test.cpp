#include "compute/cuda/solvers/block_cholesky_qr.hpp"

#include "tests/backend/cuda/small_kernel_fixture.hpp"

namespace eckart::compute::cuda {
namespace {

class BlockCholeskyQrTest : public SmallKernelTest {
 protected:
  static Matrices orthonormal(const Matrices& y) {
    const Stream stream = ECKART_CUDA_HANDLE(Stream, cudaStreamCreate);
    const BlasHandle blas = ECKART_CUDA_HANDLE(BlasHandle, cublasCreate_v2);
    ECKART_CUDA_CHECK(cublasSetStream(blas.get(), stream.get()));
    WorkspaceAllocator sizes(nullptr);
    BlockCholeskyQr::allocate(sizes, y.cols, kCount);
    DeviceBuffer workspace;
    workspace.reserve(sizes.used_bytes());
    WorkspaceAllocator allocator(workspace.as<>());
    const BlockCholeskyQr qr = BlockCholeskyQr::allocate(allocator, y.cols, kCount);
    const DeviceArray<double> from(y.values), to(std::vector<double>(y.values.size(), -7.0));
    qr.orthonormalize({stream.get(), blas.get(), nullptr}, from.get(), y.rows, y.cols, to.get(),
                      kCount);
    ECKART_CUDA_CHECK(cudaStreamSynchronize(stream.get()));
    return {y.rows, y.cols, to.copy_to_host()};
  }

  /// Expects that Q'Q is the unit matrix except for zero columns, and that Q spans Y.
  static void expect_orthonormal(const Matrices& q, const Matrices& y,
                                 const std::vector<int>& zero_columns = {}) {
    const Matrices gram = transposed_product(q, q), in_q = transposed_product(q, y);
    for (int matrix = 0; matrix < kCount; ++matrix) {
      for (int a = 0; a < q.cols; ++a) {
        const bool zero =
            std::find(zero_columns.begin(), zero_columns.end(), a) != zero_columns.end();
        for (int b = 0; b < q.cols; ++b) {
          ASSERT_NEAR(gram.at(matrix, a, b), a == b && !zero ? 1 : 0, 1e-9) << a << ", " << b;
        }
        double projected = 0;
        for (int b = 0; b < q.cols; ++b) projected += std::pow(in_q.at(matrix, b, a), 2);
        ASSERT_NEAR(projected / column_dot(y, matrix, a, a), 1, 1e-9) << "column " << a;
      }
    }
  }
};

TEST_F(BlockCholeskyQrTest, orthonormalizes_any_number_of_columns) {
  for (const int l : {1, 48, 128, 129, 208, 320}) {
    SCOPED_TRACE(::testing::Message() << l << " columns");
    const Matrices y = graded(l + 40, l);
    expect_orthonormal(orthonormal(y), y);
  }
}

TEST_F(BlockCholeskyQrTest, zeroes_dependent_columns) {
  const int l = 208;
  Matrices y = graded(l + 40, l);
  for (int matrix = 0; matrix < kCount; ++matrix) {
    for (const int column : {20, 150, 200}) {
      for (int row = 0; row < y.rows; ++row) y.at(matrix, row, column) = 0;
      add_column(y, matrix, 3, column, 2);
      add_column(y, matrix, 11, column, -1);
    }
  }
  expect_orthonormal(orthonormal(y), y, {20, 150, 200});
}

}  // namespace
}  // namespace eckart::compute::cuda
