#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "compute/cuda/layout/resize_plan.hpp"
#include "compute/cuda/raii.hpp"
#include "core/image.hpp"

namespace eckart::compute::cuda {

/// Resizes images on a stream of its own, one after the other. One thread at a time may use it.
/// Everything throws as check() does; after an exception, the worker must be destroyed.
class ResizeWorker {
 public:
  /// Sets the current device of the calling thread.
  explicit ResizeWorker(int device);
  ~ResizeWorker();

  /// Resizes an image of the shape plan.shapes.front() to `result`, of the shape
  /// plan.shapes.back(), and waits for it. Memory grows to that of the largest image. The filters
  /// are copied with each image, because they are much smaller. Sets the current device of the
  /// calling thread.
  void resize(const Image& image, const ResizePlan& plan, Image& result);

 private:
  /// Pinned memory between an image and the device. An image of any size passes through it in
  /// parts, so that a thread fills one chunk while the other is copied.
  struct Chunk {
    PinnedBuffer memory;
    Event copied;
  };
  const Chunk& next_chunk();
  void copy_in(const std::byte* from, std::size_t bytes, std::byte* to);
  void copy_out(const std::byte* from, std::size_t bytes, std::byte* to);
  template <class T>
  T* copy_in_all(const std::vector<T>& from, DeviceBuffer& to);

  const int device_;
  const Stream stream_;
  std::array<Chunk, 2> chunks_;
  std::size_t chunks_used_ = 0;
  DeviceBuffer passes_, windows_, weights_;
  std::array<DeviceBuffer, 3> images_;  // the image and the results of the passes
};

}  // namespace eckart::compute::cuda
