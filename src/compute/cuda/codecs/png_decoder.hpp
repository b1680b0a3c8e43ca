#pragma once

#include <cstddef>
#include <span>

#include "codec/png/irregularity.hpp"
#include "compute/cuda/codecs/png_decoder_kernels.hpp"
#include "compute/cuda/layout/png_input_batch.hpp"
#include "compute/cuda/raii.hpp"

namespace eckart::compute::cuda {

/// Memory of PngDecoder on the device for a batch.
std::size_t png_decoder_bytes(const PngInputBatch& batch);

/// Decodes batches of PNGs with 8 bits a sample, without alpha, palette and interlacing, on the
/// current device, one batch at a time: the work of the last batch must be done before the next
/// decode(). One thread at a time may use it. Memory grows to that of the largest batch; growing
/// waits for the device. Everything throws as check() does.
class PngDecoder {
 public:
  /// Queues the decoding of a batch that is not empty, asynchronously: the streams of all images
  /// are copied from `streams`, and the pixels are written to `pixels`, on the device, where
  /// PngInput::pixels_offset says. `streams` must be pinned, and stay until the work is done, as
  /// must this decoder. `batch` was planned with their sizes.
  void decode(const PngInputBatch& batch, const std::byte* streams, std::byte* pixels,
              cudaStream_t stream);

  /// After the work is done: for each image of the last batch `none`, or why its pixels are not
  /// valid and the CPU has to decode it.
  std::span<const codec::png::Irregularity> irregularities() const {
    return {irregularity_out_.as<codec::png::Irregularity>(), count_};
  }

 private:
  std::size_t count_ = 0;  // images of the last batch
  PinnedBuffer images_;
  DeviceBuffer images_in_, words_, rows_, irregularity_;
  PinnedBuffer irregularity_out_;
};

}  // namespace eckart::compute::cuda
