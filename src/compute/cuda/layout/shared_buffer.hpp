#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>

namespace eckart::compute::cuda {

/// Memory for the outputs of one batch after the other. While outputs of a batch are being written,
/// they keep its memory, and the next batch uses a second buffer. For one thread, except that what
/// share() returns may be released on any. `Buffer` is a GrowingBuffer, see raii.hpp.
template <class Buffer>
class SharedBuffer {
 public:
  /// Begins a batch: its memory has at least `bytes`, and no earlier batch uses it. Throws as
  /// Buffer::reserve() does.
  void begin(std::size_t bytes) {
    if (is_shared(current_)) current_ = other();
    if (!buffers_[current_]) buffers_[current_] = std::make_shared<Buffer>();
    buffers_[current_]->reserve(bytes);
  }
  /// The memory of the batch.
  template <class T = std::byte>
  T* as() const {
    return buffers_[current_]->template as<T>();
  }
  /// Returns what keeps the memory of the batch, or null if outputs of an earlier batch still have
  /// the other buffer: then the next batch needs this one.
  std::shared_ptr<const void> share() const {
    return is_shared(other()) ? nullptr : buffers_[current_];
  }

 private:
  std::size_t other() const { return 1 - current_; }
  bool is_shared(std::size_t buffer) const {
    if (buffers_[buffer].use_count() > 1) return true;
    std::atomic_thread_fence(std::memory_order_acquire);  // after the reads of other threads
    return false;
  }

  std::array<std::shared_ptr<Buffer>, 2> buffers_;
  std::size_t current_ = 0;
};

}  // namespace eckart::compute::cuda
