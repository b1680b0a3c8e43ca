#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "compute/cuda/codecs/png_kernels.hpp"
#include "compute/cuda/layout/png_batch.hpp"
#include "compute/cuda/layout/shared_buffer.hpp"
#include "compute/cuda/raii.hpp"

namespace eckart::compute::cuda {

/// Compresses the images of a batch on the GPU. Their chunks are the bytes that
/// codec::png::append_idat_chunks() makes, and come back in pinned memory. Single-threaded.
/// Throws as check() does.
class PngEncoder {
 public:
  /// Queues the compression of a batch whose samples are in device memory from `pixels` on, see
  /// PngImage. At most `capacity` bytes of chunks come back; images beyond have none.
  void encode(const std::byte* pixels, const PngBatch& batch, std::size_t capacity,
              cudaStream_t stream);
  /// The IDAT chunks of an image; empty if there was no room for them. Valid after the stream was
  /// synchronized, until the next encode(), or longer with share().
  std::span<const std::byte> chunks(std::size_t image) const;
  /// Keeps the memory of the batch; see SharedBuffer::share().
  std::shared_ptr<const void> share() const { return bytes_.share(); }
  void free_memory() { *this = {}; }

 private:
  PinnedBuffer host_images_, host_pieces_, chunks_;
  SharedBuffer<PinnedBuffer> bytes_;
  DeviceBuffer images_, pieces_, filtered_, blocks_, block_results_, placed_;
};

}  // namespace eckart::compute::cuda
