#include "codec/png_chunk_reader.hpp"

#include <algorithm>
#include <climits>

#include "codec/image_codecs.hpp"
#include "codec/png_chunk.hpp"

namespace eckart::codec {
namespace {

// Length and type before the data, CRC after it.
constexpr std::size_t kChunkOverheadBytes = 12;

}  // namespace

bool PngChunkReader::has_next() {
  const std::span<const std::byte> head = file_.at(offset_, 8);
  const std::size_t rest = file_.size() - std::min(offset_, file_.size());
  return head.size() >= 8 && rest >= kChunkOverheadBytes &&
         big_endian_32(head.first<4>()) <=
             std::min<std::size_t>(rest - kChunkOverheadBytes, INT_MAX);
}

PngChunk PngChunkReader::next() {
  const std::span<const std::byte> head = file_.at(offset_, 8);
  const std::size_t rest = file_.size() - std::min(offset_, file_.size());
  if (rest < kChunkOverheadBytes || head.size() < 8) fail_corrupt("truncated: no IEND chunk");
  const std::size_t size = big_endian_32(head.first<4>());
  if (size > INT_MAX) fail_corrupt("has a chunk with an invalid size");
  if (rest - kChunkOverheadBytes < size) fail_corrupt("truncated: the file ends inside a chunk");
  PngChunk chunk{std::string(reinterpret_cast<const char*>(head.data()) + 4, 4), offset_ + 8, size};
  offset_ += size + kChunkOverheadBytes;
  return chunk;
}

}  // namespace eckart::codec
