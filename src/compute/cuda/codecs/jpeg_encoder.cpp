#include "compute/cuda/codecs/jpeg_encoder.hpp"

#include "compute/cuda/codecs/pinned_copy.hpp"

namespace eckart::compute::cuda {
namespace {

using codec::jpeg::EncodingTables;
using codec::jpeg::kBlockSize;

void clear(DeviceBuffer& buffer, std::size_t bytes, cudaStream_t stream) {
  buffer.reserve_with_room(bytes);
  ECKART_CUDA_CHECK_COPY(cudaMemsetAsync(buffer.as<>(), 0, bytes, stream), bytes);
}

}  // namespace

void JpegEncoder::encode(const std::byte* pixels, const std::byte* originals,
                         const JpegOutputBatch& batch, const EncodingTables& tables,
                         std::size_t capacity, cudaStream_t stream) {
  if (batch.images().empty()) return;
  copy_in_async(batch.images(), host_images_, images_, stream);
  copy_in_async(std::span(&tables, 1), host_tables_, tables_, stream);
  DeviceJpegOutputs jpegs = device_outputs(batch, stream);
  jpegs.pixels = reinterpret_cast<const std::uint8_t*>(pixels);
  jpegs.originals = reinterpret_cast<const std::uint8_t*>(originals);
  data_.reserve_with_room(batch.images().size() * sizeof(JpegData));
  bytes_.begin(capacity);
  convert_jpeg_pixels(jpegs, batch.max_blocks(), stream);
  quantize_jpeg_blocks(jpegs, batch.max_blocks(), stream);
  compare_jpeg_pixels(jpegs, batch.max_pixels(), stream);
  write_jpeg_bits(jpegs, batch.max_blocks(), stream);
  write_jpeg_data(jpegs, batch.max_pieces(), std::int64_t(capacity), data_.as<JpegData>(),
                  bytes_.as<std::uint8_t>(), stream);
}

DeviceJpegOutputs JpegEncoder::device_outputs(const JpegOutputBatch& batch, cudaStream_t stream) {
  const auto samples = std::size_t(batch.blocks()) * kBlockSize;
  samples_.reserve_with_room(samples);
  coefficients_.reserve_with_room(samples * sizeof(std::int16_t));
  bits_.reserve_with_room(std::size_t(batch.blocks()) * sizeof(std::uint32_t));
  zeros_.reserve_with_room(std::size_t(batch.pieces()) * sizeof(std::uint32_t));
  clear(words_, std::size_t(batch.pieces()) * kJpegPieceBytes, stream);
  clear(scans_, batch.images().size() * sizeof(JpegScan), stream);
  return {.images = images_.as<JpegOutput>(),
          .count = int(batch.images().size()),
          .tables = tables_.as<EncodingTables>(),
          .pixels = nullptr,
          .originals = nullptr,
          .samples = samples_.as<std::uint8_t>(),
          .coefficients = coefficients_.as<std::int16_t>(),
          .bits = bits_.as<std::uint32_t>(),
          .words = words_.as<std::uint32_t>(),
          .zeros = zeros_.as<std::uint32_t>(),
          .scans = scans_.as<JpegScan>()};
}

std::span<const std::byte> JpegEncoder::data(std::size_t image) const {
  const JpegData& data = data_.as<JpegData>()[image];
  return {bytes_.as<>() + data.offset, data.bytes};
}

std::uint64_t JpegEncoder::squared_error(std::size_t image) const {
  return data_.as<JpegData>()[image].squared_error;
}

}  // namespace eckart::compute::cuda
