#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "codec/jpeg/irregularity.hpp"
#include "compute/cuda/codecs/jpeg_kernels.hpp"
#include "compute/cuda/layout/jpeg_batch.hpp"
#include "compute/cuda/raii.hpp"

namespace eckart::compute::cuda {

/// Memory of JpegDecoder on the device for a batch.
std::size_t jpeg_decoder_bytes(const JpegBatch& batch);

/// Decodes batches of baseline JPEGs on the current device, one batch at a time: the work of the
/// last batch must be done before the next decode(). One thread at a time may use it. Memory grows
/// to that of the largest batch; growing waits for the device. Everything throws as check() does.
class JpegDecoder {
 public:
  JpegDecoder();

  /// Queues the decoding of a batch that is not empty, asynchronously: the data of all images are
  /// copied from `data`, and the pixels are written to `pixels`, on the device, where
  /// JpegInput::pixels_offset says. `data` must be pinned, and stay until the work is done, as must
  /// this decoder. `batch` was planned with their sizes.
  void decode(const JpegBatch& batch, const std::byte* data, std::byte* pixels,
              cudaStream_t stream);

  /// After the work is done: for each image of the last batch `none`, or why its pixels are not
  /// valid and libjpeg has to decode it.
  std::span<const codec::jpeg::Irregularity> irregularities() const {
    return {irregularity_out_.as<codec::jpeg::Irregularity>(), count_};
  }

 private:
  void reserve(const JpegBatch& batch);
  DeviceJpegs copy_in(const JpegBatch& batch, const std::byte* data, cudaStream_t stream);

  int multiprocessors_;
  std::size_t count_ = 0;      // images of the last batch
  PinnedBuffer descriptions_;  // images, then tables
  DeviceBuffer descriptions_in_, words_, coefficients_, samples_, irregularity_;
  PinnedBuffer irregularity_out_;
};

}  // namespace eckart::compute::cuda
