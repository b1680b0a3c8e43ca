#include "compute/cuda/codecs/png_decoder.hpp"

#include <cstdint>

#include "compute/cuda/codecs/pinned_copy.hpp"

namespace eckart::compute::cuda {

using codec::png::Irregularity;

std::size_t png_decoder_bytes(const PngInputBatch& batch) {
  return batch.images.size() * (sizeof(PngInputImage) + sizeof(Irregularity)) + batch.stream_bytes +
         batch.row_bytes;
}

void PngDecoder::decode(const PngInputBatch& batch, const std::byte* streams, std::byte* pixels,
                        cudaStream_t stream) {
  count_ = batch.images.size();
  const std::size_t irregularity_bytes = count_ * sizeof(Irregularity);
  words_.reserve_with_room(batch.stream_bytes);
  rows_.reserve_with_room(batch.row_bytes);
  irregularity_.reserve_with_room(irregularity_bytes);
  irregularity_out_.reserve_with_room(irregularity_bytes);
  copy_in_async(std::span(batch.images), images_, images_in_, stream);
  ECKART_CUDA_CHECK_COPY(
      cudaMemcpyAsync(words_.as<>(), streams, batch.stream_bytes, cudaMemcpyHostToDevice, stream),
      batch.stream_bytes);
  const DevicePngInputs pngs{.images = images_in_.as<PngInputImage>(),
                             .count = int(count_),
                             .words = words_.as<std::uint32_t>(),
                             .rows = rows_.as<std::uint8_t>(),
                             .pixels = reinterpret_cast<std::uint8_t*>(pixels),
                             .irregularity = irregularity_.as<Irregularity>()};
  ECKART_CUDA_CHECK_COPY(cudaMemsetAsync(pngs.rows, 0, batch.row_bytes, stream), batch.row_bytes);
  inflate_pngs(pngs, stream);
  unfilter_pngs(pngs, stream);
  ECKART_CUDA_CHECK_COPY(cudaMemcpyAsync(irregularity_out_.as<>(), pngs.irregularity,
                                         irregularity_bytes, cudaMemcpyDeviceToHost, stream),
                         irregularity_bytes);
}

}  // namespace eckart::compute::cuda
