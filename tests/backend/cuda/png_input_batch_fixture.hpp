#pragma once

#include <span>
#include <vector>

#include "codec/png/encoded_image.hpp"
#include "compute/cuda/codecs/png_decoder.hpp"
#include "compute/cuda/layout/packing.hpp"
#include "compute/cuda/raii.hpp"

namespace eckart::compute::cuda {

/// PNGs prepared as a slot does: their streams in pinned memory.
class PreparedPngs {
 public:
  explicit PreparedPngs(std::span<const codec::png::EncodedImage> images,
                        std::size_t gap_bytes = 0) {
    std::size_t capacity = 0;
    for (const auto& image : images) capacity += padded_stream_bytes(image);
    streams_.reserve(capacity);
    for (const auto& image : images) {
      copy_stream(image, streams_.as<>() + stream_bytes_);
      inputs_.push_back({image.shape, stream_bytes_, image.stream_bytes, pixels_bytes_});
      stream_bytes_ += padded_stream_bytes(image);
      pixels_bytes_ += packed_bytes(image.shape) + gap_bytes;
    }
  }

  const std::byte* streams() const { return streams_.as<>(); }
  std::size_t stream_bytes() const { return stream_bytes_; }
  std::size_t pixels_bytes() const { return pixels_bytes_; }
  const std::vector<PngInput>& inputs() const { return inputs_; }
  PngInputBatch plan() const { return plan_png_input_batch(inputs_, stream_bytes_, pixels_bytes_); }

 private:
  std::vector<PngInput> inputs_;
  PinnedBuffer streams_;
  std::size_t stream_bytes_ = 0, pixels_bytes_ = 0;
};

}  // namespace eckart::compute::cuda
