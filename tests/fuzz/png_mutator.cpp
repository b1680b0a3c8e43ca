// Mutations that keep the lengths and checksums of a PNG valid, because its decoder rejects other
// files early; and mutations of the uncompressed IDAT data.
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace eckart::fuzz {
namespace {

using Bytes = std::vector<std::uint8_t>;
constexpr std::string_view kSignature = "\x89PNG\r\n\x1a\n";
constexpr std::size_t kChunkOverheadBytes =
    12;  // length and type before the data of a chunk, CRC after it

struct Chunk {
  Bytes type;
  Bytes data;
};

std::uint32_t big_endian_32(const std::uint8_t* bytes) {
  return std::uint32_t(bytes[0]) << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3];
}

void append_big_endian(Bytes& file, std::uint32_t value) {
  for (const int shift : {24, 16, 8, 0}) file.push_back(std::uint8_t(value >> shift));
}

/// Parses chunks as far as possible. A chunk that is too long ends with the file.
std::vector<Chunk> chunks_of(const Bytes& file) {
  std::vector<Chunk> chunks;
  for (std::size_t at = kSignature.size(); at + kChunkOverheadBytes <= file.size();) {
    const std::uint8_t* chunk = file.data() + at;
    const std::size_t size =
        std::min<std::size_t>(big_endian_32(chunk), file.size() - at - kChunkOverheadBytes);
    chunks.push_back({Bytes(chunk + 4, chunk + 8), Bytes(chunk + 8, chunk + 8 + size)});
    at += size + kChunkOverheadBytes;
  }
  return chunks;
}

Bytes file_of(const std::vector<Chunk>& chunks) {
  Bytes file(kSignature.begin(), kSignature.end());
  for (const Chunk& chunk : chunks) {
    append_big_endian(file, std::uint32_t(chunk.data.size()));
    const std::size_t checked = file.size();
    file.insert(file.end(), chunk.type.begin(), chunk.type.end());
    file.insert(file.end(), chunk.data.begin(), chunk.data.end());
    append_big_endian(file, std::uint32_t(crc32(0, &file[checked], uInt(file.size() - checked))));
  }
  return file;
}

bool is_type(const Chunk& chunk, std::string_view type) {
  return std::memcmp(chunk.type.data(), type.data(), type.size()) == 0;
}

/// Returns the uncompressed data of all IDAT chunks, as far as it can be uncompressed, up to 64
/// KiB.
Bytes unpacked(const std::vector<Chunk>& chunks) {
  Bytes packed, rows(65536);
  for (const Chunk& chunk : chunks) {
    if (is_type(chunk, "IDAT")) packed.insert(packed.end(), chunk.data.begin(), chunk.data.end());
  }
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) return {};
  stream.next_in = packed.data();
  stream.avail_in = uInt(packed.size());
  stream.next_out = rows.data();
  stream.avail_out = uInt(rows.size());
  inflate(&stream, Z_FINISH);
  rows.resize(stream.total_out);
  inflateEnd(&stream);
  return rows;
}

Bytes packed(const Bytes& rows, int level) {
  uLongf size = compressBound(rows.size());
  Bytes result(size);
  compress2(result.data(), &size, rows.data(), rows.size(), level);
  result.resize(size);
  return result;
}

class PngMutator {
 public:
  explicit PngMutator(unsigned seed) : random_(seed) {}

  Bytes mutate(const Bytes& file, std::size_t max_size) {
    std::vector<Chunk> chunks = chunks_of(file);
    if (chunks.empty() || one_in(8))
      return mutate_bytes(file, max_size);  // also with wrong checksums
    switch (below(4)) {
      case 0:
        return file_of(chunks_of(mutate_bytes(file, max_size)));
      case 1:
        mutate_rows(chunks, max_size);
        break;
      case 2:
        mutate_order(chunks);
        break;
      default: {
        Bytes& data = chunks[below(chunks.size())].data;
        data = mutate_bytes(data, data.size() + 64);
      }
    }
    return file_of(chunks);
  }

 private:
  std::size_t below(std::size_t end) { return random_() % end; }
  bool one_in(std::size_t count) { return below(count) == 0; }

  static Bytes mutate_bytes(Bytes bytes, std::size_t max_size) {
    const std::size_t size = bytes.size();
    bytes.resize(std::max(size, max_size));
    bytes.resize(LLVMFuzzerMutate(bytes.data(), size, bytes.size()));
    return bytes;
  }

  /// Returns the number of row bytes for the header, if its size is plausible; not correct for
  /// Adam7.
  std::size_t expected_row_bytes(const Chunk& header, std::size_t max_bytes) {
    if (header.data.size() != 13) return 0;
    const std::uint8_t* ihdr = header.data.data();
    const std::uint64_t cols = big_endian_32(ihdr), rows = big_endian_32(ihdr + 4);
    const std::uint64_t samples = ihdr[9] == 2 ? 3 : 1;
    const std::uint64_t bytes_per_row = 1 + (cols * ihdr[8] * samples + 7) / 8;
    return rows > max_bytes || bytes_per_row > max_bytes || rows * bytes_per_row > max_bytes
               ? 0
               : std::size_t(rows * bytes_per_row);
  }

  void mutate_rows(std::vector<Chunk>& chunks, std::size_t max_size) {
    Bytes rows = mutate_bytes(unpacked(chunks), max_size);
    const std::size_t row_bytes = expected_row_bytes(chunks[0], 65536);
    if (row_bytes > 0 && one_in(2)) rows.resize(row_bytes);
    const Bytes pixels = packed(rows, int(below(10)));
    std::erase_if(chunks, [](const Chunk& chunk) { return is_type(chunk, "IDAT"); });
    const std::size_t cut = one_in(2) ? below(pixels.size() + 1) : pixels.size();
    const auto middle = pixels.begin() + std::ptrdiff_t(cut);
    const auto end = chunks.end() - (chunks.empty() ? 0 : 1);  // IEND
    const Bytes type{'I', 'D', 'A', 'T'};
    const auto first = chunks.insert(end, {type, Bytes(pixels.begin(), middle)});
    if (middle != pixels.end()) chunks.insert(first + 1, {type, Bytes(middle, pixels.end())});
  }

  /// Moves, removes or duplicates a chunk.
  void mutate_order(std::vector<Chunk>& chunks) {
    const auto from = chunks.begin() + std::ptrdiff_t(below(chunks.size()));
    Chunk chunk = *from;
    if (!one_in(3)) chunks.erase(from);
    if (one_in(2)) return;
    chunks.insert(chunks.begin() + std::ptrdiff_t(below(chunks.size() + 1)), std::move(chunk));
  }

  std::minstd_rand random_;
};

}  // namespace
}  // namespace eckart::fuzz

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  using eckart::fuzz::Bytes;
  const Bytes mutated = eckart::fuzz::PngMutator(seed).mutate(Bytes(data, data + size), max_size);
  const std::size_t kept = std::min(mutated.size(), max_size);
  std::copy_n(mutated.begin(), kept, data);
  return kept;
}
