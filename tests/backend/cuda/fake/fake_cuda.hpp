#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace eckart::compute::cuda {

/// Replaces CUDA for tests of host code without a GPU. Calls are recorded and succeed. Device
/// memory is host memory, and copies are synchronous. Kernels and libraries do nothing. Link
/// `fake_cuda` to use it. Single-threaded.
struct FakeCuda {
  /// Resets calls, limits, failures and the fill value. Allocated memory remains.
  static void reset();

  /// Returns the names of the calls since the last take_calls(), in order. A kernel launch is
  /// "kernel".
  static std::vector<std::string> take_calls();

  /// Allocations fail if device memory would exceed `bytes`.
  static void limit_memory(std::size_t bytes);
  static std::size_t used_memory();

  /// Calls of this function return `status` and do nothing, until reset().
  static void fail_calls(const std::string& call, int status);

  /// Fills device memory with 0xFF bytes, which no certificate accepts, until `call` is made. After
  /// that, and by default, memory is filled with zeros, as if every plane were reconstructed
  /// exactly.
  static void fail_planes_until(const std::string& call);
};

}  // namespace eckart::compute::cuda
