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

namespace eckart::cuda::bench {

/// A batch of square planes of 8 bits, and the rank wanted of them.
struct KernelCase {
  int side, rank, planes;
  int columns() const { return cuda_subspace_columns(rank, max_float16_columns(0)); }  ///< l
};

/// A case's planes: textures, of which a batch holds some several times.
struct BenchPixels {
  explicit BenchPixels(const KernelCase& c);
  DeviceArray<std::byte> bytes;
  DeviceArray<PlaneLayout> planes;
};

/// What is timed: work that `launch` queues. `prepare`, where there is one, is queued before each
/// and is not timed.
struct QueuedWork {
  std::function<void()> launch;
  std::function<void()> prepare = {};
};

/// A library's functions that do the same.
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

/// The kernels of SubspaceSolver, and those of the solvers in float64, each on what it finds there.
std::vector<BenchKernel> subspace_kernels(const Handles& handles, const KernelCase& c,
                                          const std::shared_ptr<const BenchPixels>& pixels);
std::vector<BenchKernel> float64_kernels(const Handles& handles, const KernelCase& c,
                                         const std::shared_ptr<const BenchPixels>& pixels);

}  // namespace eckart::cuda::bench
