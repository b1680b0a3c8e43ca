#pragma once

#include <span>
#include <stdexcept>
#include <vector>

#include "codec/jpeg/header.hpp"
#include "codec/jpeg/unstuff.hpp"
#include "compute/cuda/codecs/jpeg_decoder.hpp"
#include "compute/cuda/layout/packing.hpp"
#include "compute/cuda/raii.hpp"
#include "tests/unit/codec/test_images.hpp"

namespace eckart::compute::cuda {

/// JPEGs prepared as a loader does: headers, and data in pinned memory. Files that are irregular
/// before their data must not be added.
class PreparedJpegs {
 public:
  explicit PreparedJpegs(std::span<const test::Bytes> files, std::size_t gap_bytes = 0)
      : headers_(files.size()) {
    std::size_t capacity = 0;
    for (const test::Bytes& file : files) capacity += codec::jpeg::max_unstuffed_bytes(file.size());
    data_.reserve(capacity);
    for (std::size_t i = 0; i < files.size(); ++i) add(files[i], headers_[i], gap_bytes);
  }

  const std::byte* data() const { return data_.as<>(); }
  std::size_t data_bytes() const { return data_bytes_; }
  std::size_t pixels_bytes() const { return pixels_bytes_; }
  const std::vector<JpegInput>& inputs() const { return inputs_; }
  JpegBatch plan() const { return plan_jpeg_batch(inputs_, data_bytes_, pixels_bytes_); }

 private:
  void add(const test::Bytes& file, codec::jpeg::JpegHeader& header, std::size_t gap_bytes) {
    using namespace codec::jpeg;
    if (parse_header(file, header) != Irregularity::none)
      throw std::invalid_argument("irregular header");
    const auto scan = std::span(file).subspan(header.scan_offset);
    const auto bytes =
        unstuff(scan, {data_.as<>() + data_bytes_, max_unstuffed_bytes(scan.size())});
    if (!bytes) throw std::invalid_argument("irregular end");
    inputs_.push_back({&header, data_bytes_, *bytes, pixels_bytes_});
    data_bytes_ += max_unstuffed_bytes(*bytes);
    pixels_bytes_ += packed_bytes(header.shape()) + gap_bytes;
  }

  std::vector<codec::jpeg::JpegHeader> headers_;
  std::vector<JpegInput> inputs_;
  PinnedBuffer data_;
  std::size_t data_bytes_ = 0, pixels_bytes_ = 0;
};

}  // namespace eckart::compute::cuda
