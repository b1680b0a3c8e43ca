#include "compute/cuda/codecs/output_encoder.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "codec/jpeg/encoder.hpp"
#include "codec/jpeg/standard_tables.hpp"
#include "compute/cuda/layout/jpeg_batch.hpp"

namespace eckart::compute::cuda {
namespace {

/// Adds all outputs. Returns whether they can be encoded.
bool add(std::span<const DeviceOutput> outputs, PngBatch& batch) {
  for (const DeviceOutput& output : outputs) {
    if (!PngBatch::can_encode(output.shape)) return false;
    batch.add(output.shape, output.pixels);
  }
  return true;
}

bool add(std::span<const DeviceOutput> outputs, const ChromaSubsampling& subsampling,
         JpegOutputBatch& batch) {
  if (outputs.size() > kMaxJpegImages) return false;
  for (const DeviceOutput& output : outputs) {
    const auto layout = codec::jpeg::encoding_layout(output.shape, subsampling);
    if (!layout || !JpegOutputBatch::can_encode(*layout)) return false;
    batch.add(*layout, output.pixels, output.input);
  }
  return true;
}

}  // namespace

void OutputEncoder::plan(const std::optional<OutputEncoding>& encoding,
                         std::span<const DeviceOutput> outputs, std::size_t pixels_bytes) {
  for (std::size_t i = 0; i < encoded_; ++i) needs_full_capacity_ |= !has(i);
  encoded_ = 0;
  encoding_.reset();
  pngs_.clear();
  jpegs_.clear();
  if (!encoding || outputs.empty()) return;
  const bool is_jpeg = encoding->format == OutputFormat::jpeg;
  if (is_jpeg ? !add(outputs, encoding->subsampling, jpegs_) : !add(outputs, pngs_)) return;
  if (is_jpeg)
    jpeg_tables_ =
        build_encoding_tables(codec::jpeg::standard_tables(encoding->jpeg_quality, /*channels=*/3));
  encoding_ = encoding;
  planned_ = outputs.size();
  capacity_ = capacity(pixels_bytes);
}

/// Kodak photographs of rank 50 have 0.52 of their pixels' bytes as PNG and 0.13 as JPEG of quality
/// 95, MRI slices of rank 20 have 0.40 and 0.22.
std::size_t OutputEncoder::capacity(std::size_t pixels_bytes) const {
  constexpr std::size_t kFrameBytes = 512;  // of an image, more than enough for a tiny one
  const std::size_t part = needs_full_capacity_                      ? pixels_bytes
                           : encoding_->format == OutputFormat::jpeg ? pixels_bytes / 4
                                                                     : pixels_bytes / 8 * 5;
  return part + planned_ * kFrameBytes;
}

void OutputEncoder::encode(const std::byte* outputs, const std::byte* inputs, cudaStream_t stream) {
  if (encoding_->format == OutputFormat::jpeg) {
    jpeg_encoder_.encode(outputs, encoding_->measures_file ? inputs : nullptr, jpegs_, jpeg_tables_,
                         capacity_, stream);
  } else {
    png_encoder_.encode(outputs, pngs_, capacity_, stream);
  }
  encoded_ = planned_;
}

std::span<const std::byte> OutputEncoder::data(std::size_t output) const {
  return encoding_->format == OutputFormat::jpeg ? jpeg_encoder_.data(output)
                                                 : png_encoder_.chunks(output);
}

EncodedOutput OutputEncoder::output(std::size_t output) const {
  const std::span<const std::byte> bytes = data(output);
  std::shared_ptr<const void> owner =
      encoding_->format == OutputFormat::jpeg ? jpeg_encoder_.share() : png_encoder_.share();
  EncodedOutput encoded;
  if (owner)
    encoded.data = SharedBytes(std::move(owner), bytes);
  else
    encoded.data = std::vector(bytes.begin(), bytes.end());
  if (encoding_->measures_file) encoded.squared_error = double(jpeg_encoder_.squared_error(output));
  return encoded;
}

}  // namespace eckart::compute::cuda
