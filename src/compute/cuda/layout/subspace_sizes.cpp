#include "compute/cuda/layout/subspace_sizes.hpp"

#include <bit>
#include <cmath>

namespace eckart::compute::cuda {

float orthonormal_column_scale(int rows) {
  return std::exp2f(std::floor(0.5F * std::log2f(float(rows))));
}

float float16_product_scale(int inner) {
  return 256.0F / float(std::max(256U, std::bit_ceil(unsigned(inner))));
}

int block_columns(int l) {
  constexpr int kMaxBlockColumns = 128;  // inverse_cholesky() is fastest per column at this size
  const int blocks = (l + kMaxBlockColumns - 1) / kMaxBlockColumns;
  return align_up((l + blocks - 1) / blocks);
}

BlockCholeskyQrBuffers BlockCholeskyQrBuffers::allocate(WorkspaceAllocator& allocator, int l,
                                                        int count) {
  const auto columns = std::size_t(l), matrices = std::size_t(count);
  // Holds the Gram matrix of a block, or the product of a block with the columns after it.
  return {allocator.allocate<double>(std::size_t(block_columns(l)) * columns * matrices),
          allocator.allocate<double>(columns * matrices)};
}

Float64SubspaceBuffers Float64SubspaceBuffers::allocate(WorkspaceAllocator& allocator,
                                                        const Problem& p) {
  const auto m = std::size_t(p.m), n = std::size_t(p.n), count = std::size_t(p.count);
  const auto l = std::size_t(p.columns), k = std::size_t(p.rank());
  Float64SubspaceBuffers buffers{};
  buffers.a_t_nm = allocator.allocate<double>(m * n * count);
  buffers.q_nl = allocator.allocate<double>(n * l * count);
  buffers.z_ml = allocator.allocate<double>(m * l * count);
  buffers.product = allocator.allocate<double>(m * l * count);
  buffers.s_ll = allocator.allocate<double>(l * l * count);
  buffers.values_l = allocator.allocate<double>(l * count);
  buffers.u_mk = allocator.allocate<double>(m * k * count);
  buffers.v_nk = allocator.allocate<double>(n * k * count);
  buffers.qr = BlockCholeskyQrBuffers::allocate(allocator, int(l), p.count);
  return buffers;
}

FullSvdBuffers FullSvdBuffers::allocate(WorkspaceAllocator& allocator, const Problem& p) {
  const auto m = std::size_t(p.m), n = std::size_t(p.n), count = std::size_t(p.count);
  FullSvdBuffers buffers{};
  buffers.a_t_nm = allocator.allocate<double>(m * n * count);
  buffers.v_nn = allocator.allocate<double>(n * n * count);
  buffers.p_mk = allocator.allocate<double>(m * std::size_t(p.rank()) * count);
  return buffers;
}

}  // namespace eckart::compute::cuda
