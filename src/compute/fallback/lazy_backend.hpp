#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <utility>

#include "compute/backend.hpp"

namespace eckart::compute {

/// A backend that is created when it is first needed. Thread-safe.
class LazyBackend {
 public:
  explicit LazyBackend(std::function<std::unique_ptr<Backend>()> make) : make_(std::move(make)) {}

  /// Computes one image and returns when it is finished. Uses a new lane and destroys it afterwards
  /// to release its memory. At most lanes() images are computed at the same time; other calls wait.
  /// `index` is the index of the calling lane. After a stop request the task may be canceled.
  /// Throws as the backend does.
  void compute(int index, const BatchKey& key, Task& task, const std::stop_token& stop);

 private:
  Backend& get_or_make();

  const std::function<std::unique_ptr<Backend>()> make_;
  std::mutex make_mutex_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<std::mutex[]> lane_mutexes_;  // locked while the lane with this index exists
};

}  // namespace eckart::compute
