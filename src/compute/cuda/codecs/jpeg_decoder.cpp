#include "compute/cuda/codecs/jpeg_decoder.hpp"

#include <cstring>
#include <type_traits>

#include "core/round_up.hpp"

namespace eckart::compute::cuda {
namespace {

using codec::jpeg::Irregularity;
using codec::jpeg::kBlockSize;
using codec::jpeg::Tables;

static_assert(std::is_trivially_copyable_v<JpegImage> && std::is_trivially_copyable_v<Tables>);

/// The sizes of all buffers, in bytes.
struct BufferSizes {
  std::size_t tables_offset, descriptions, words, coefficients, samples, irregularity;

  explicit BufferSizes(const JpegBatch& batch)
      : tables_offset(round_up(batch.images.size() * sizeof(JpegImage), alignof(Tables))),
        descriptions(tables_offset + batch.tables.size() * sizeof(Tables)),
        words(batch.data_bytes),
        coefficients(std::size_t(batch.blocks) * kBlockSize * sizeof(std::int16_t)),
        samples(std::size_t(batch.blocks) * kBlockSize),
        irregularity(batch.images.size() * sizeof(Irregularity)) {}
};

int count_multiprocessors() {
  int device = 0, count = 0;
  ECKART_CUDA_CHECK(cudaGetDevice(&device));
  ECKART_CUDA_CHECK(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
  return count;
}

void copy_in_async(const void* from, std::size_t bytes, const DeviceBuffer& to,
                   cudaStream_t stream) {
  ECKART_CUDA_CHECK_COPY(cudaMemcpyAsync(to.as<>(), from, bytes, cudaMemcpyHostToDevice, stream),
                         bytes);
}

}  // namespace

std::size_t jpeg_decoder_bytes(const JpegBatch& batch) {
  const BufferSizes sizes(batch);
  return sizes.descriptions + sizes.words + sizes.coefficients + sizes.samples + sizes.irregularity;
}

JpegDecoder::JpegDecoder() : multiprocessors_(count_multiprocessors()) {}

void JpegDecoder::decode(const JpegBatch& batch, const std::byte* data, std::byte* pixels,
                         cudaStream_t stream) {
  reserve(batch);
  count_ = batch.images.size();
  DeviceJpegs jpegs = copy_in(batch, data, stream);
  jpegs.pixels = reinterpret_cast<std::uint8_t*>(pixels);
  const BufferSizes sizes(batch);
  ECKART_CUDA_CHECK_COPY(cudaMemsetAsync(jpegs.coefficients, 0, sizes.coefficients, stream),
                         sizes.coefficients);
  decode_jpeg_scans(jpegs, jpeg_threads_per_image(count_, multiprocessors_), stream);
  transform_jpeg_blocks(jpegs, batch.max_blocks, stream);
  write_jpeg_pixels(jpegs, batch.max_pixels, stream);
  ECKART_CUDA_CHECK_COPY(cudaMemcpyAsync(irregularity_out_.as<>(), jpegs.irregularity,
                                         sizes.irregularity, cudaMemcpyDeviceToHost, stream),
                         sizes.irregularity);
}

void JpegDecoder::reserve(const JpegBatch& batch) {
  const BufferSizes sizes(batch);
  descriptions_.reserve_with_room(sizes.descriptions);
  descriptions_in_.reserve_with_room(sizes.descriptions);
  words_.reserve_with_room(sizes.words);
  coefficients_.reserve_with_room(sizes.coefficients);
  samples_.reserve_with_room(sizes.samples);
  irregularity_.reserve_with_room(sizes.irregularity);
  irregularity_out_.reserve_with_room(sizes.irregularity);
}

DeviceJpegs JpegDecoder::copy_in(const JpegBatch& batch, const std::byte* data,
                                 cudaStream_t stream) {
  const BufferSizes sizes(batch);
  std::memcpy(descriptions_.as<>(), batch.images.data(), batch.images.size() * sizeof(JpegImage));
  std::memcpy(descriptions_.as<>() + sizes.tables_offset, batch.tables.data(),
              batch.tables.size() * sizeof(Tables));
  copy_in_async(descriptions_.as<>(), sizes.descriptions, descriptions_in_, stream);
  copy_in_async(data, sizes.words, words_, stream);
  return {.images = descriptions_in_.as<JpegImage>(),
          .count = int(batch.images.size()),
          .tables = reinterpret_cast<const Tables*>(descriptions_in_.as<>() + sizes.tables_offset),
          .words = words_.as<std::uint32_t>(),
          .coefficients = coefficients_.as<std::int16_t>(),
          .samples = samples_.as<std::uint8_t>(),
          .pixels = nullptr,
          .irregularity = irregularity_.as<Irregularity>()};
}

}  // namespace eckart::compute::cuda
