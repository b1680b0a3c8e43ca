#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compute/cuda/kernels/small_svd.hpp"
#include "compute/cuda/layout/plane_layout.hpp"
#include "compute/cuda/plan/subspace_columns.hpp"
#include "compute/cuda/solvers/solver.hpp"
#include "tests/backend/cuda/bench/roofline.hpp"
#include "tests/backend/cuda/device_array.hpp"

namespace eckart::compute::cuda::bench {

/// A batch of square 8-bit planes, and the rank of their reconstruction.
struct KernelCase {
  int side, rank, planes;
  int columns() const { return cuda_subspace_columns(rank, max_float16_columns(0)); }  ///< l
};

/// The planes of a case: a few textures, repeated.
struct BenchPixels {
  explicit BenchPixels(const KernelCase& c);
  DeviceArray<std::byte> bytes;
  DeviceArray<PlaneLayout> planes;
};

/// Work to be timed, queued by `launch`. `prepare`, if set, is queued before each launch and not
/// timed.
struct QueuedWork {
  std::function<void()> launch;
  std::function<void()> prepare = {};
};

/// Library functions that compute the same.
struct LibraryKernel {
  std::string functions;
  QueuedWork queued;
};

struct BenchKernel {
  std::string name;
  KernelWork work;
  QueuedWork queued;
  std::optional<LibraryKernel> library = {};
};

/// The kernels of SubspaceSolver and of the float64 solvers, with the operands that they have
/// there.
std::vector<BenchKernel> subspace_kernels(const Handles& handles, const KernelCase& c,
                                          const std::shared_ptr<const BenchPixels>& pixels);
std::vector<BenchKernel> float64_kernels(const Handles& handles, const KernelCase& c,
                                         const std::shared_ptr<const BenchPixels>& pixels);

}  // namespace eckart::compute::cuda::bench
