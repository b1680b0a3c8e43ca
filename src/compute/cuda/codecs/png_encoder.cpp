#include "compute/cuda/codecs/png_encoder.hpp"

#include "compute/cuda/codecs/pinned_copy.hpp"

namespace eckart::compute::cuda {

void PngEncoder::encode(const std::byte* pixels, const PngBatch& batch, std::size_t capacity,
                        cudaStream_t stream) {
  const int images = int(batch.images().size()), pieces = int(batch.pieces().size());
  if (images == 0) return;
  copy_in_async(batch.images(), host_images_, images_, stream);
  copy_in_async(batch.pieces(), host_pieces_, pieces_, stream);
  filtered_.reserve_with_room(batch.filtered_bytes());
  blocks_.reserve_with_room(batch.block_bytes());
  block_results_.reserve_with_room(std::size_t(pieces) * sizeof(PngBlock));
  placed_.reserve_with_room(std::size_t(pieces) * sizeof(PngChunk));
  chunks_.reserve_with_room(std::size_t(images) * sizeof(PngChunks));
  bytes_.begin(capacity);
  const auto* const device_images = images_.as<PngImage>();
  const auto* const device_pieces = pieces_.as<PngPiece>();
  auto* const blocks = blocks_.as<std::uint8_t>();
  compress_png_pieces(pixels, device_images, device_pieces, pieces, filtered_.as<std::uint8_t>(),
                      blocks, block_results_.as<PngBlock>(), stream);
  place_png_chunks(device_images, images, device_pieces, block_results_.as<PngBlock>(),
                   std::int64_t(capacity), placed_.as<PngChunk>(), chunks_.as<PngChunks>(), stream);
  write_png_chunks(device_pieces, pieces, blocks, block_results_.as<PngBlock>(),
                   placed_.as<PngChunk>(), bytes_.as<std::uint8_t>(), stream);
}

std::span<const std::byte> PngEncoder::chunks(std::size_t image) const {
  const PngChunks& chunks = chunks_.as<PngChunks>()[image];
  return {bytes_.as<>() + chunks.offset, chunks.bytes};
}

}  // namespace eckart::compute::cuda
