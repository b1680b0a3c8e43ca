#pragma once

#include <algorithm>
#include <array>
#include <barrier>
#include <cstddef>
#include <functional>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

// Compiles the kernels of src/bench/cuda/kernels for the host, and runs them: each thread of a
// block is a thread, and the blocks run one after the other. Include this before the kernels.

// NOLINTBEGIN(readability-identifier-naming): the names are those of CUDA.

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};

struct float4 {
  float x, y, z, w;
};
struct uchar4 {
  unsigned char x, y, z, w;
};

namespace eckart::cuda_on_host {

/// The threads of the block that runs.
struct Block {
  explicit Block(unsigned threads) : all(threads), exchanged(threads) {
    for (unsigned begin = 0; begin < threads; begin += kWarpSize)
      warps.push_back(
          std::make_unique<std::barrier<>>(std::ptrdiff_t(std::min(kWarpSize, threads - begin))));
  }
  static constexpr unsigned kWarpSize = 32;
  std::barrier<> all;
  std::vector<std::unique_ptr<std::barrier<>>> warps;
  std::vector<double> exchanged;  // of each thread
};

inline thread_local Block* block = nullptr;
inline thread_local unsigned thread_index = 0;  // in the block

}  // namespace eckart::cuda_on_host

#define __global__
#define __launch_bounds__(threads)
#define __shared__ static
inline thread_local dim3 threadIdx, blockIdx, blockDim, gridDim;

inline void __syncthreads() { eckart::cuda_on_host::block->all.arrive_and_wait(); }

template <class Value>
Value __shfl_down_sync(unsigned /*mask*/, Value value, int distance) {
  using namespace eckart::cuda_on_host;
  std::barrier<>& warp = *block->warps[thread_index / Block::kWarpSize];
  block->exchanged[thread_index] = double(value);
  warp.arrive_and_wait();
  const unsigned from = thread_index + unsigned(distance);
  const bool is_in_warp = from / Block::kWarpSize == thread_index / Block::kWarpSize;
  const Value result = is_in_warp ? Value(block->exchanged[from]) : value;
  warp.arrive_and_wait();
  return result;
}

/// The tensor cores: each thread of a warp has whole fragments, and computes all of their elements.
namespace nvcuda::wmma {

struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
namespace precision {
struct tf32 {};
}  // namespace precision
enum layout_t { mem_row_major };

template <class Use, int kM, int kN, int kK, class Type, class Layout = void>
struct fragment {
  static constexpr int kRows = std::is_same_v<Use, matrix_b> ? kK : kM;
  static constexpr int kColumns = std::is_same_v<Use, matrix_a> ? kK : kN;
  static constexpr int num_elements = kRows * kColumns;
  std::array<float, std::size_t(num_elements)> x{};
  float& at(int row, int column) { return x[std::size_t(row) * kColumns + std::size_t(column)]; }
  float at(int row, int column) const {
    return x[std::size_t(row) * kColumns + std::size_t(column)];
  }
};

/// Rounds to the 11 bits of TF32.
inline float __float_to_tf32(float value) {
  constexpr float kFactor = 8193;  // Veltkamp: keeps 24 - 13 bits
  const float large = kFactor * value;
  return large - (large - value);
}

template <class Fragment>
void fill_fragment(Fragment& fragment, float value) {
  fragment.x.fill(value);
}
template <class Fragment>
void load_matrix_sync(Fragment& fragment, const float* from, unsigned stride) {
  for (int i = 0; i < Fragment::num_elements; ++i)
    fragment.x[std::size_t(i)] =
        from[unsigned(i / Fragment::kColumns) * stride + unsigned(i % Fragment::kColumns)];
}
template <class Fragment>
void store_matrix_sync(float* to, const Fragment& fragment, unsigned stride, layout_t /*layout*/) {
  if (eckart::cuda_on_host::thread_index % eckart::cuda_on_host::Block::kWarpSize != 0) return;
  for (int i = 0; i < Fragment::num_elements; ++i)
    to[unsigned(i / Fragment::kColumns) * stride + unsigned(i % Fragment::kColumns)] =
        fragment.x[std::size_t(i)];
}
template <class D, class A, class B, class C>
void mma_sync(D& d, const A& a, const B& b, const C& c) {
  for (int i = 0; i < D::kRows; ++i) {
    for (int j = 0; j < D::kColumns; ++j) {
      float sum = c.at(i, j);
      for (int t = 0; t < A::kColumns; ++t) sum += a.at(i, t) * b.at(t, j);
      d.at(i, j) = sum;
    }
  }
}

}  // namespace nvcuda::wmma

namespace eckart::cuda_on_host {

/// Runs kernel() for all threads of a grid. Afterwards all threads have ended.
inline void launch(dim3 grid, dim3 block_size, const std::function<void()>& kernel) {
  const unsigned count = block_size.x * block_size.y;
  Block shared(count);
  std::vector<std::thread> threads;
  for (unsigned index = 0; index < count; ++index) {
    threads.emplace_back([&, index] {
      block = &shared;
      thread_index = index;
      threadIdx = {index % block_size.x, index / block_size.x, 0};
      blockDim = block_size;
      gridDim = grid;
      for (unsigned i = 0; i < grid.x * grid.y * grid.z; ++i) {
        blockIdx = {i % grid.x, i / grid.x % grid.y, i / grid.x / grid.y};
        kernel();
        shared.all.arrive_and_wait();  // the next block uses the same shared memory
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace eckart::cuda_on_host

// NOLINTEND(readability-identifier-naming)
