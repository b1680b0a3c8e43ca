#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "codec/jpeg/encoding_tables.hpp"
#include "compute/cuda/codecs/jpeg_encoder.hpp"
#include "compute/cuda/codecs/png_encoder.hpp"
#include "core/image.hpp"
#include "core/output_encoding.hpp"

namespace eckart::compute::cuda {

/// An output in device memory.
struct DeviceOutput {
  ImageShape shape;
  std::int64_t pixels;  ///< offset of its samples, in bytes
  std::int64_t input;   ///< offset of the samples of its input, in bytes
};

/// Encodes the outputs of batches on the GPU, in the format that their tasks take. Single-threaded.
/// Throws as check() does.
class OutputEncoder {
 public:
  /// Prepares a batch: all its outputs are encoded, or none if that is not wanted or an output
  /// cannot be. `pixels_bytes`: of the outputs of the largest batch. There is room for as much as
  /// most outputs need; after a batch of which an output is missing, for as much as their pixels.
  void plan(const std::optional<OutputEncoding>& encoding, std::span<const DeviceOutput> outputs,
            std::size_t pixels_bytes);
  /// Whether the outputs of the planned batch are encoded.
  bool is_used() const { return encoding_.has_value(); }
  /// Queues the encoding of the planned batch. `outputs` and `inputs` are in device memory.
  void encode(const std::byte* outputs, const std::byte* inputs, cudaStream_t stream);

  // Of an output of the batch. Valid after the stream was synchronized, until the next encode().
  /// Whether it was encoded: there was room for it, and it is regular.
  bool has(std::size_t output) const { return !data(output).empty(); }
  /// Its data are valid after the next encode(), too: they stay in pinned memory if that is free,
  /// and are copied otherwise.
  EncodedOutput output(std::size_t output) const;

  void free_memory() { *this = {}; }

 private:
  std::span<const std::byte> data(std::size_t output) const;
  std::size_t capacity(std::size_t pixels_bytes) const;

  std::optional<OutputEncoding> encoding_;  // nothing if outputs are not encoded
  std::size_t capacity_ = 0;
  std::size_t planned_ = 0, encoded_ = 0;  // outputs of the batch; 0 encoded before encode()
  bool needs_full_capacity_ = false;
  PngBatch pngs_;
  PngEncoder png_encoder_;
  JpegOutputBatch jpegs_;
  codec::jpeg::EncodingTables jpeg_tables_{};
  JpegEncoder jpeg_encoder_;
};

}  // namespace eckart::compute::cuda
