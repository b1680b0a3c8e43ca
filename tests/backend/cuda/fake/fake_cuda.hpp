#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace eckart::cuda {

/// A GPU that computes nothing, so that tests of what the host does need none. Calls are recorded
/// and succeed, device memory is the host's, copies copy at once; kernels and libraries change
/// nothing. Link `fake_cuda` to have it in the place of CUDA. One thread.
struct FakeCuda {
  /// Forgets calls, limits and what was filled; memory in use stays.
  static void reset();

  /// The names of the calls since the last take, in order; a kernel's launch is "kernel".
  static std::vector<std::string> take_calls();

  /// Allocations that would bring device memory above so many bytes fail.
  static void limit_memory(std::size_t bytes);
  static std::size_t used_memory();

  /// Device memory is full of ones, which no certificate accepts, until this call has been made.
  /// Then, and without this, it is full of zeros, as if every plane were reconstructed exactly.
  static void fail_planes_until(const std::string& call);
};

}  // namespace eckart::cuda
