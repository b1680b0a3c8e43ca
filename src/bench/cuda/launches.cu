#include <mma.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "bench/cuda/kernels/add_coalesced.cuh"
#include "bench/cuda/kernels/add_strided.cuh"
#include "bench/cuda/kernels/multiply_naive.cuh"
#include "bench/cuda/kernels/multiply_register_tiles.cuh"
#include "bench/cuda/kernels/multiply_shared_tiles.cuh"
#include "bench/cuda/kernels/multiply_tensor_cores.cuh"
#include "bench/cuda/kernels/multiply_vector_block_per_row.cuh"
#include "bench/cuda/kernels/multiply_vector_thread_per_row.cuh"
#include "bench/cuda/kernels/multiply_vector_warp_per_row.cuh"
#include "bench/cuda/kernels/transpose_naive.cuh"
#include "bench/cuda/kernels/transpose_shared_tiles.cuh"
#include "bench/cuda/launches.hpp"
#include "compute/cuda/check.hpp"
#include "compute/cuda/occupancy.hpp"

namespace eckart::bench::cuda {
namespace {

using compute::cuda::check_launch;

int device_attribute(cudaDeviceAttr which) {
  int device = 0, value = 0;
  ECKART_CUDA_CHECK(cudaGetDevice(&device));
  ECKART_CUDA_CHECK(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

template <class Kernel>
double occupancy(Kernel kernel, dim3 block) {
  return compute::cuda::occupancy(kernel, int(block.x * block.y));
}

unsigned parts(int size, unsigned part) { return (unsigned(size) + part - 1) / part; }
std::string text(dim3 block) { return std::to_string(block.x) + " × " + std::to_string(block.y); }

/// Adds variants of one operation. The kernels get the operands, the result and the sizes that
/// they need.
template <class Real>
class Variants {
 public:
  using Operands = std::vector<const Real*>;

  explicit Variants(const Shape& shape) : m_(shape.m), n_(shape.n), k_(shape.k) {
    switch (shape.operation) {
      case Operation::reconstruct:
        add_products<true>();
        break;
      case Operation::multiply:
        add_products<false>();
        break;
      case Operation::transpose:
        add_transposes();
        break;
      case Operation::add:
        add_sums();
        break;
      case Operation::multiply_vector:
        add_vector_products();
        break;
    }
  }
  std::vector<KernelVariant<Real>> take() { return std::move(variants_); }

 private:
  /// `arguments` maps operands and result to a tuple of the arguments of the kernel.
  template <class... Parameters, class Arguments>
  void add(const std::string& name, void (*kernel)(Parameters...), dim3 grid, dim3 block,
           const Arguments& arguments, bool uses_tensor_cores = false) {
    const auto launch = [=](const Operands& operands, Real* result, cudaStream_t stream) {
      std::apply([&](auto... values) { kernel<<<grid, block, 0, stream>>>(values...); },
                 arguments(operands, result));
      check_launch(name.c_str(), grid, block);
    };
    variants_.push_back({{.name = name,
                          .occupancy = occupancy(kernel, block),
                          .uses_tensor_cores = uses_tensor_cores},
                         launch});
  }

  /// C = A diag(s) B, or A B.
  template <bool kIsScaled>
  void add_products() {
    const auto arguments = [m = m_, n = n_, k = k_](const Operands& o, Real* c) {
      const Real* const s_k = kIsScaled ? o[1] : nullptr;
      return std::tuple(o.front(), s_k, o.back(), c, m, n, k);
    };
    for (const dim3 block : {dim3(8, 8), dim3(16, 16), dim3(32, 32), dim3(32, 8)})
      add("naive, blocks of " + text(block), multiply_naive<Real, kIsScaled>,
          {parts(n_, block.x), parts(m_, block.y)}, block, arguments);
    add("shared tiles of 16 × 16", multiply_shared_tiles<Real, kIsScaled, 16>,
        {parts(n_, 16), parts(m_, 16)}, {16, 16}, arguments);
    add("shared tiles of 32 × 32", multiply_shared_tiles<Real, kIsScaled, 32>,
        {parts(n_, 32), parts(m_, 32)}, {32, 32}, arguments);
    constexpr dim3 kRegisterBlock(kRegisterThreads, kRegisterThreads);
    add("register tiles of 4 × 4", multiply_register_tiles<Real, kIsScaled, 4>,
        {parts(n_, 64), parts(m_, 64)}, kRegisterBlock, arguments);
    add("register tiles of 8 × 8", multiply_register_tiles<Real, kIsScaled, 8>,
        {parts(n_, 128), parts(m_, 128)}, kRegisterBlock, arguments);
    if constexpr (std::is_same_v<Real, float>) {
      constexpr int kFirstMajorWithTf32 = 8;
      if (device_attribute(cudaDevAttrComputeCapabilityMajor) < kFirstMajorWithTf32) return;
      add("tensor cores, 3 × TF32", multiply_tensor_cores<kIsScaled>,
          {parts(n_, kTensorTile), parts(m_, kTensorTile)}, kTensorThreads, arguments, true);
    }
  }

  void add_transposes() {
    const auto arguments = [m = m_, n = n_](const Operands& o, Real* c) {
      return std::tuple(o[0], c, m, n);
    };
    for (const dim3 block : {dim3(16, 16), dim3(32, 8)})
      add("naive, blocks of " + text(block), transpose_naive<Real>,
          {parts(n_, block.x), parts(m_, block.y)}, block, arguments);
    const dim3 grid(parts(n_, kTransposeTile), parts(m_, kTransposeTile));
    constexpr dim3 kBlock(kTransposeTile, kTransposeRows);
    add("shared tiles", transpose_shared_tiles<Real, 0>, grid, kBlock, arguments);
    add("shared tiles, padded", transpose_shared_tiles<Real, 1>, grid, kBlock, arguments);
  }

  void add_sums() {
    const auto arguments = [n = n_](const Operands& o, Real* c) {
      return std::tuple(o[0], o[1], c, n);
    };
    constexpr unsigned kThreads = 256;
    const unsigned resident = unsigned(device_attribute(cudaDevAttrMultiProcessorCount)) * 8;
    const dim3 grid(std::min(parts(n_, kThreads), resident));
    add("neighboring threads add neighboring elements", add_coalesced<Real>, grid, kThreads,
        arguments);
    add("each thread adds a part of its own", add_strided<Real>, grid, kThreads, arguments);
  }

  void add_vector_products() {
    const auto arguments = [m = m_, n = n_](const Operands& o, Real* c) {
      return std::tuple(o[0], o[1], c, m, n);
    };
    add("thread per row", multiply_vector_thread_per_row<Real, false>, parts(m_, kRowThreads),
        kRowThreads, arguments);
    add("thread per row, b in shared memory", multiply_vector_thread_per_row<Real, true>,
        parts(m_, kRowThreads), kRowThreads, arguments);
    add("block per row, sums in shared memory", multiply_vector_block_per_row<Real>, unsigned(m_),
        kBlockThreads,
        [n = n_](const Operands& o, Real* c) { return std::tuple(o[0], o[1], c, n); });
    add("warp per row", multiply_vector_warp_per_row<Real>, parts(m_, kRowWarps),
        dim3(32, kRowWarps), arguments);
  }

  const int m_, n_, k_;
  std::vector<KernelVariant<Real>> variants_;
};

}  // namespace

template <class Real>
std::vector<KernelVariant<Real>> kernel_variants(const Shape& shape) {
  return Variants<Real>(shape).take();
}
template std::vector<KernelVariant<float>> kernel_variants(const Shape& shape);
template std::vector<KernelVariant<double>> kernel_variants(const Shape& shape);

}  // namespace eckart::bench::cuda
