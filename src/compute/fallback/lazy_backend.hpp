#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "compute/backend.hpp"

namespace eckart {

/// A backend for what another cannot do: made when it is first needed. Thread-safe.
class LazyBackend {
 public:
  explicit LazyBackend(std::function<std::unique_ptr<Backend>()> make) : make_(std::move(make)) {}

  /// Computes one image now, on a lane that lives no longer than that: its memory is worth having
  /// back. As many at a time as the backend has lanes; the others wait. `index` says whose lane
  /// asks.
  void compute(int index, const BatchKey& key, Task& task);

 private:
  Backend& get_or_make();

  const std::function<std::unique_ptr<Backend>()> make_;
  std::mutex make_mutex_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<std::mutex[]> lane_mutexes_;  // held while the lane of this index exists
};

}  // namespace eckart
