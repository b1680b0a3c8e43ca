#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compute/cuda/kernels/small_svd.hpp"
#include "compute/cuda/plane.hpp"
#include "compute/cuda/solvers/solver.hpp"
#include "compute/solver_choice.hpp"
#include "tests/backend/cuda/bench/roofline.hpp"
#include "tests/backend/cuda/on_device.hpp"

namespace eckart::cuda::bench {

/// A batch of square planes of 8 bits, and the rank wanted of them.
struct Case {
  int side, rank, planes;
  int columns() const { return subspace_columns(rank, most_small_columns(0)); }  ///< l
};

/// A case's planes: textures, of which a batch holds some several times.
struct Pixels {
  explicit Pixels(const Case& c);
  OnDevice<std::byte> bytes;
  OnDevice<Plane> planes;
};

/// What is timed: work that `launch` queues. `prepare`, where there is one, is queued before each
/// and is not timed.
struct Queued {
  std::function<void()> launch;
  std::function<void()> prepare = {};
};

/// A library's functions that do the same.
struct Library {
  std::string what;
  Queued queued;
};

struct Kernel {
  std::string name;
  Work work;
  Queued queued;
  std::optional<Library> library = {};
};

/// The kernels of SubspaceSolver, and those of the solvers in float64, each on what it finds there.
std::vector<Kernel> subspace_kernels(const Handles& handles, const Case& c,
                                     const std::shared_ptr<const Pixels>& pixels);
std::vector<Kernel> float64_kernels(const Handles& handles, const Case& c,
                                    const std::shared_ptr<const Pixels>& pixels);

}  // namespace eckart::cuda::bench
