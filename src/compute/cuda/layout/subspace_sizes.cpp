#include "compute/cuda/layout/subspace_sizes.hpp"

#include <bit>
#include <cmath>

namespace eckart::cuda {

float column_scale(int rows) { return std::exp2f(std::floor(0.5F * std::log2f(float(rows)))); }

float product_scale(int inner) {
  return 256.0F / float(std::max(256U, std::bit_ceil(unsigned(inner))));
}

int block_columns(int l) {
  constexpr int kMostInBlock = 128;  // of inverse_cholesky() the fastest a column
  const int blocks = (l + kMostInBlock - 1) / kMostInBlock;
  return to_granule((l + blocks - 1) / blocks);
}

BlockCholeskyQrParts BlockCholeskyQrParts::carve(Carver& carver, int l, int count) {
  const auto columns = std::size_t(l), matrices = std::size_t(count);
  // The square of a block, or what the columns behind it have of it.
  return {carver.take<double>(std::size_t(block_columns(l)) * columns * matrices),
          carver.take<double>(columns * matrices)};
}

Float64SubspaceParts Float64SubspaceParts::carve(Carver& carver, const Problem& p) {
  const auto m = std::size_t(p.m), n = std::size_t(p.n), count = std::size_t(p.count);
  const auto l = std::size_t(p.columns), k = std::size_t(p.rank());
  Float64SubspaceParts parts{};
  parts.a_t_nm = carver.take<double>(m * n * count);
  parts.q_nl = carver.take<double>(n * l * count);
  parts.z_ml = carver.take<double>(m * l * count);
  parts.product = carver.take<double>(m * l * count);
  parts.s_ll = carver.take<double>(l * l * count);
  parts.values_l = carver.take<double>(l * count);
  parts.u_mk = carver.take<double>(m * k * count);
  parts.v_nk = carver.take<double>(n * k * count);
  parts.qr = BlockCholeskyQrParts::carve(carver, int(l), p.count);
  return parts;
}

Float64Parts Float64Parts::carve(Carver& carver, const Problem& p) {
  const auto m = std::size_t(p.m), n = std::size_t(p.n), count = std::size_t(p.count);
  Float64Parts parts{};
  parts.a_t_nm = carver.take<double>(m * n * count);
  parts.v_nn = carver.take<double>(n * n * count);
  parts.p_mk = carver.take<double>(m * std::size_t(p.rank()) * count);
  return parts;
}

}  // namespace eckart::cuda
