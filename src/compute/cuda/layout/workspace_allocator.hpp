#pragma once

#include <cstddef>

namespace eckart::compute::cuda {

/// Divides a workspace into buffers, each aligned to kAlignment bytes. Without a workspace it only
/// counts bytes.
class WorkspaceAllocator {
 public:
  static constexpr std::size_t kAlignment = 256;  // that of cudaMalloc()
  explicit WorkspaceAllocator(std::byte* begin) : begin_(begin) {}
  template <class T>
  T* allocate(std::size_t count) {
    std::byte* piece = begin_ ? begin_ + used_ : nullptr;
    used_ += aligned_bytes<T>(count);
    return reinterpret_cast<T*>(piece);
  }
  template <class T>
  static std::size_t aligned_bytes(std::size_t count) {
    return (count * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment;
  }
  std::size_t used_bytes() const { return used_; }

 private:
  std::byte* begin_;
  std::size_t used_ = 0;
};

}  // namespace eckart::compute::cuda
