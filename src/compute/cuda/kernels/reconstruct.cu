#include "compute/cuda/check.hpp"
#include "compute/cuda/kernels/async_copy.cuh"
#include "compute/cuda/kernels/reconstruct.hpp"
#include "compute/cuda/kernels/tensor_core.cuh"
#include "compute/cuda/kernels/tile_store.cuh"
#include "compute/cuda/occupancy.hpp"

namespace eckart::compute::cuda {
namespace {

constexpr int kThreads = 128;  // 2 x 2 warps, 32 x 32 elements each
constexpr int kDepth = 16;     // columns of P and V in shared memory at a time, double-buffered
constexpr int kStride = kTile + 4;  // lanes (g, t) of a fragment are in different banks
constexpr int kPrefetchQuads = 2;
constexpr int kBlocksPerMultiprocessor = 4;  // resident blocks for __launch_bounds__

/// Columns of both factors for one tile.
struct FactorColumns {
  double p[kDepth][kStride], v[kDepth][kStride];
};
/// First the columns of the factors, then the finished tile.
union ReconstructShared {
  FactorColumns columns[2];  // one in use, one being loaded
  ReconstructTile tile;
};

/// Starts the copy of kTile rows of kDepth columns, from row0 and column0. Writes zeros outside the
/// matrix.
__device__ void copy_columns(const double* from, std::int64_t stride, int rows, int columns,
                             int row0, int column0, double (&to)[kDepth][kStride]) {
#pragma unroll
  for (int i = 0; i < kDepth * kTile / kThreads; ++i) {
    const auto [column, row] = run_position(int(threadIdx.x) + i * kThreads, kTile, 1);
    const bool is_inside = column0 + column < columns && row0 + row < rows;
    copy_async<8>(&to[column][row],
                  is_inside ? from + (column0 + column) * stride + row0 + row : from, is_inside);
  }
}

/// Computes the tile of P V' in shared.tile[i][j]. Elements outside the plane are undefined.
__device__ void multiply(const double* p, const double* v, const Factors& f, int m, int n, int i0,
                         int j0, int k, ReconstructShared& shared) {
  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  const auto [row, column] = tensor_core::warp_tile(warp, 2);
  const int g = lane / 4, t = lane % 4;
  const auto copy_from = [&](int t0) {
    FactorColumns& to = shared.columns[t0 / kDepth % 2];
    copy_columns(p, f.p_column, m, k, i0, t0, to.p);
    copy_columns(v, f.v_column, n, k, j0, t0, to.v);
  };
  double sum[4][4][2] = {};
  if (k > 0) copy_from(0);
  end_copy_group();
  for (int t0 = 0; t0 < k; t0 += kDepth) {
    if (t0 + kDepth < k) copy_from(t0 + kDepth);
    end_copy_group();
    wait_for_copy_groups<1>();
    __syncthreads();
    const FactorColumns& columns = shared.columns[t0 / kDepth % 2];
#pragma unroll
    for (int depth = 0; depth < kDepth; depth += 4) {
      double a[4], b[4];
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        a[e] = columns.p[depth + t][row + 8 * e + g];
        b[e] = columns.v[depth + t][column + 8 * e + g];
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) tensor_core::multiply_add(sum[i][j], a[i], b[j]);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const Position at = tensor_core::product_element(lane, e);
        shared.tile.at[row + 8 * i + at.row][column + 8 * j + at.column] = sum[i][j][e];
      }
    }
  }
  __syncthreads();
}

/// The tile of a plane that this block computes, and where its errors go.
struct BlockTile {
  int i0, j0;
  TileError* error;
};
__device__ BlockTile block_tile(TileError* errors) {
  return {int(blockIdx.y) * kTile, int(blockIdx.x) * kTile,
          errors + (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x};
}

/// Whether the whole tile is outside the plane; it has no errors then. The same for all threads.
__device__ bool is_outside(const BlockTile& tile, const PlaneLayout& plane) {
  if (tile.i0 < plane.m() && tile.j0 < plane.n()) return false;
  if (threadIdx.x == 0) *tile.error = TileError{0, 0, 0.0};
  return true;
}

__global__ void __launch_bounds__(kThreads, kBlocksPerMultiprocessor)
    reconstruct_kernel(const std::byte* __restrict__ pixels, const PlaneLayout* __restrict__ planes,
                       int m, int n, int rank, const int* __restrict__ chosen_ranks,
                       Factors factors, std::byte* __restrict__ out,
                       TileError* __restrict__ errors) {
  __shared__ ReconstructShared shared;
  const PlaneLayout plane = planes[blockIdx.z];
  const BlockTile at = block_tile(errors);
  if (is_outside(at, plane)) return;
  const int plane_rank = chosen_ranks ? chosen_ranks[blockIdx.z] : min(rank, plane.n());
  if (plane_rank < 0) return;
  multiply(factors.p_mk + blockIdx.z * factors.p_plane, factors.v_nk + blockIdx.z * factors.v_plane,
           factors, m, n, at.i0, at.j0, plane_rank, shared);
  store_tile_and_errors<kThreads, kPrefetchQuads>(shared.tile, plane, pixels, at.i0, at.j0, out,
                                                  at.error);
}

// store_product() needs many resident threads more than many loads of each thread.
constexpr int kStoreThreads = 256, kStorePrefetchQuads = 1;
/// How many of its threads a multiprocessor holds at once.
constexpr int resident_store_threads() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  return 1024;  // the most that it can hold
#else
  return 1536;
#endif
}

/// How the threads of a block read their elements of a product.
enum class ProductAccess {
  quads,     ///< four at once, if n is a multiple of kQuadSamples
  elements,  ///< one after the other
  tile,      ///< from a copy in shared memory, which transposes the wide planes of a batch
};

/// The elements from (i0, j0) on of a row-major m x n product in global memory. Elements outside
/// the product are undefined.
template <ProductAccess kAccess>
class ProductValues {
 public:
  __device__ ProductValues(const double* product_mn, int m, int n, int i0, int j0)
      : product_mn_(product_mn), m_(m), n_(n), i0_(i0), j0_(j0) {}
  __device__ QuadValues load(Position at) const {
    const int i = min(i0_ + at.row, m_ - 1), j = j0_ + at.column;
    const double* row = product_mn_ + std::size_t(i) * std::size_t(n_);
    if constexpr (kAccess == ProductAccess::quads) {
      const auto* from = reinterpret_cast<const double2*>(row + min(j, n_ - kQuadSamples));
      const double2 left = __ldg(from), right = __ldg(from + 1);
      return {left.x, left.y, right.x, right.y};
    } else {
      QuadValues values;
#pragma unroll
      for (int e = 0; e < kQuadSamples; ++e) values.at[e] = __ldg(row + min(j + e, n_ - 1));
      return values;
    }
  }

 private:
  const double* product_mn_;
  int m_, n_, i0_, j0_;
};

/// Copies the elements from (i0, j0) on of a row-major m x n product to a tile. Writes zeros
/// outside the product.
__device__ void copy_tile(const double* product_mn, int m, int n, int i0, int j0,
                          ReconstructTile& tile) {
#pragma unroll 4
  for (int index = int(threadIdx.x); index < kTile * kTile; index += kStoreThreads) {
    const auto [i, j] = run_position(index, kTile, 1);
    const int row = i0 + i, column = j0 + j;
    const bool is_inside = row < m && column < n;
    const std::size_t offset = std::size_t(row) * std::size_t(n) + std::size_t(column);
    copy_async<8>(&tile.at[i][j], product_mn + (is_inside ? offset : 0), is_inside);
  }
  end_copy_group();
  wait_for_copy_groups<0>();
  __syncthreads();
}

template <ProductAccess kAccess>
__global__ void __launch_bounds__(kStoreThreads, resident_store_threads() / kStoreThreads)
    store_product_kernel(const std::byte* __restrict__ pixels,
                         const PlaneLayout* __restrict__ planes, int m, int n,
                         const double* __restrict__ product_mn, std::byte* __restrict__ out,
                         TileError* __restrict__ errors) {
  const PlaneLayout plane = planes[blockIdx.z];
  const BlockTile at = block_tile(errors);
  if (is_outside(at, plane)) return;
  const double* product = product_mn + std::size_t(blockIdx.z) * std::size_t(m) * std::size_t(n);
  if constexpr (kAccess == ProductAccess::tile) {
    __shared__ ReconstructTile tile;
    copy_tile(product, m, n, at.i0, at.j0, tile);
    store_tile_and_errors<kStoreThreads, kStorePrefetchQuads>(tile, plane, pixels, at.i0, at.j0,
                                                              out, at.error);
  } else {
    store_quads_and_errors<kStoreThreads, kStorePrefetchQuads>(
        ProductValues<kAccess>(product, m, n, at.i0, at.j0), plane, pixels, {at.i0, at.j0}, out,
        at.error);
  }
}

}  // namespace

void store_product(const std::byte* pixels, const PlaneLayout* planes, bool has_wide_planes,
                   int count, int m, int n, const double* product_mn, std::byte* out,
                   TileError* errors, cudaStream_t stream) {
  const dim3 grid(tiles(n), tiles(m), unsigned(count));
  const auto kernel = has_wide_planes         ? store_product_kernel<ProductAccess::tile>
                      : n % kQuadSamples == 0 ? store_product_kernel<ProductAccess::quads>
                                              : store_product_kernel<ProductAccess::elements>;
  kernel<<<grid, kStoreThreads, 0, stream>>>(pixels, planes, m, n, product_mn, out, errors);
  check_launch("store_product_kernel", grid, kStoreThreads);
}

void reconstruct(const std::byte* pixels, const PlaneLayout* planes, int count, int m, int n,
                 int rank, const int* chosen_ranks, const Factors& factors, std::byte* out,
                 TileError* errors, cudaStream_t stream) {
  const dim3 grid(tiles(n), tiles(m), unsigned(count));
  reconstruct_kernel<<<grid, kThreads, 0, stream>>>(pixels, planes, m, n, rank, chosen_ranks,
                                                    factors, out, errors);
  check_launch("reconstruct_kernel", grid, kThreads);
}

double reconstruct_occupancy() { return occupancy(reconstruct_kernel, kThreads); }

}  // namespace eckart::compute::cuda
