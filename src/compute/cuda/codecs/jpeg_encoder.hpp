#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "codec/jpeg/encoding_tables.hpp"
#include "compute/cuda/codecs/jpeg_encoder_kernels.hpp"
#include "compute/cuda/layout/jpeg_output_batch.hpp"
#include "compute/cuda/layout/shared_buffer.hpp"
#include "compute/cuda/raii.hpp"

namespace eckart::compute::cuda {

/// Encodes the images of a batch on the GPU. Their data are what libjpeg writes between the last
/// header and the end-of-image marker, and come back in pinned memory. Single-threaded. Throws as
/// check() does.
class JpegEncoder {
 public:
  /// Queues the encoding of a batch whose samples are in device memory from `pixels` on, see
  /// JpegOutput. At most `capacity` bytes of data come back; images beyond have none. If
  /// `originals` is not null, the decoded files are compared with these images.
  void encode(const std::byte* pixels, const std::byte* originals, const JpegOutputBatch& batch,
              const codec::jpeg::EncodingTables& tables, std::size_t capacity, cudaStream_t stream);
  // Of an image of the batch. Valid after the stream was synchronized, until the next encode().
  /// The entropy-coded data; empty if there was no room for them, or the image is irregular. Valid
  /// longer with share().
  std::span<const std::byte> data(std::size_t image) const;
  /// The squared error of the decoded file. Valid if there are data, and they were compared.
  std::uint64_t squared_error(std::size_t image) const;
  /// Keeps the memory of the batch; see SharedBuffer::share().
  std::shared_ptr<const void> share() const { return bytes_.share(); }
  void free_memory() { *this = {}; }

 private:
  DeviceJpegOutputs device_outputs(const JpegOutputBatch& batch, cudaStream_t stream);

  PinnedBuffer host_images_, host_tables_, data_;
  SharedBuffer<PinnedBuffer> bytes_;
  DeviceBuffer images_, tables_, samples_, coefficients_, bits_, words_, zeros_, scans_;
};

}  // namespace eckart::compute::cuda
