#include "codec/png_metadata.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "codec/deflate.hpp"
#include "codec/exif.hpp"
#include "codec/icc_profile.hpp"
#include "codec/metadata_collector.hpp"
#include "codec/orientation.hpp"
#include "codec/png_chunk.hpp"
#include "codec/png_chunk_writer.hpp"

namespace eckart::codec {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::size_t kMaxInflatedBytes = kMaxInflatedMetadata / 2;
constexpr std::string_view kXmpKeyword("XML:com.adobe.xmp\0", 18);

std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Returns what follows the first `text` terminated by a zero byte; nullopt if there is none.
std::optional<Bytes> after_zero(Bytes bytes) {
  const auto zero = std::find(bytes.begin(), bytes.end(), std::byte(0));
  if (zero == bytes.end()) return std::nullopt;
  return Bytes(zero + 1, bytes.end());
}

/// The chunks of one file. Each function takes the data of a chunk and returns why it is damaged;
/// empty if it is not.
class PngMetadataReader {
 public:
  explicit PngMetadataReader(std::size_t max_bytes) : found_(max_bytes) {}

  void take(const PngChunk& chunk, Bytes file) {
    const Function function = function_of(chunk.type);
    if (function == nullptr) return;
    const Bytes whole = chunk.whole(file);
    if (chunk.type == "iTXt" && !as_text(data_of_chunk(whole)).starts_with(kXmpKeyword)) return;
    if (!seen_.insert(chunk.type).second) return;
    const std::string why =
        has_valid_crc(whole) ? (this->*function)(data_of_chunk(whole)) : "wrong CRC";
    if (!why.empty()) found_.drop(chunk.type + " chunk", why);
  }

  Metadata finish() {
    Metadata& metadata = found_.metadata();
    if (metadata.density && exif_orientation(metadata.exif) > kLastUntransposedOrientation)
      std::swap(metadata.density->x, metadata.density->y);
    return std::move(metadata);
  }

 private:
  using Function = std::string (PngMetadataReader::*)(Bytes data);

  static Function function_of(std::string_view type) {
    static constexpr std::pair<std::string_view, Function> kFunctions[] = {
        {"iCCP", &PngMetadataReader::take_icc},   {"eXIf", &PngMetadataReader::take_exif},
        {"iTXt", &PngMetadataReader::take_xmp},   {"pHYs", &PngMetadataReader::take_density},
        {"gAMA", &PngMetadataReader::take_gamma}, {"cHRM", &PngMetadataReader::take_chromaticities},
        {"cICP", &PngMetadataReader::take_cicp},  {"sRGB", &PngMetadataReader::take_srgb},
    };
    const auto* found = std::ranges::find(kFunctions, type, [](const auto& p) { return p.first; });
    return found == std::end(kFunctions) ? nullptr : found->second;
  }

  std::string take_inflated(std::vector<std::byte> Metadata::*member, Bytes stream) {
    const std::size_t max_bytes = std::min(found_.room(), kMaxInflatedBytes);
    auto bytes = inflate_zlib(stream, max_bytes);
    if (!bytes) return "damaged, or larger than " + std::to_string(max_bytes) + " bytes";
    if (member == &Metadata::icc && !is_icc_profile(*bytes)) return "not an ICC profile";
    found_.metadata().*member = std::move(*bytes);
    return {};
  }

  std::string take_icc(Bytes data) {
    const auto rest = after_zero(data);  // after the name
    if (!rest || rest->empty() || rest->front() != std::byte(0)) return "invalid";
    return take_inflated(&Metadata::icc, rest->subspan(1));
  }

  std::string take_exif(Bytes data) {
    data = exif_of_chunk(data);
    if (!is_exif(data)) return "not EXIF data";
    if (data.size() > found_.room()) return "too large";
    found_.set(&Metadata::exif, "eXIf chunk", data);
    return {};
  }

  std::string take_xmp(Bytes data) {
    const Bytes flags = data.subspan(kXmpKeyword.size());
    if (flags.size() < 2) return "invalid";
    const auto translated = after_zero(flags.subspan(2));  // after the language
    const auto packet = translated ? after_zero(*translated) : std::nullopt;
    if (!packet) return "invalid";
    if (flags[0] == std::byte(1)) return take_inflated(&Metadata::xmp, *packet);
    if (packet->size() > found_.room()) return "too large";
    found_.set(&Metadata::xmp, "iTXt chunk", *packet);
    return {};
  }

  std::string take_density(Bytes data) {
    if (data.size() != 9) return "invalid";
    const PixelDensity density{big_endian_32(data.first<4>()), big_endian_32(data.subspan<4, 4>()),
                               data[8] == std::byte(0)};
    if (density.x == 0 || density.y == 0 || data[8] > std::byte(1)) return "invalid";
    found_.metadata().density = density;
    return {};
  }

  std::string take_gamma(Bytes data) {
    if (data.size() != 4 || big_endian_32(data.first<4>()) == 0) return "invalid";
    found_.metadata().color.gamma = big_endian_32(data.first<4>());
    return {};
  }

  std::string take_chromaticities(Bytes data) {
    std::array<std::uint32_t, 8> values;
    if (data.size() != 4 * values.size()) return "invalid";
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = big_endian_32(data.subspan(4 * i).first<4>());
    found_.metadata().color.chromaticities = values;
    return {};
  }

  std::string take_cicp(Bytes data) {
    std::array<std::uint8_t, 4> values;
    if (data.size() != values.size()) return "invalid";
    std::ranges::transform(data, values.begin(), [](std::byte b) { return std::uint8_t(b); });
    found_.metadata().color.cicp = values;
    return {};
  }

  std::string take_srgb(Bytes data) {
    constexpr std::byte kMaxIntent{3};
    if (data.size() != 1 || data[0] > kMaxIntent) return "invalid";
    found_.metadata().color.rendering_intent = std::uint8_t(data[0]);
    return {};
  }

  MetadataCollector found_;
  std::set<std::string> seen_;
};

}  // namespace

std::size_t max_inflated_metadata(const PngChunk& chunk, FileBytes& file) {
  constexpr std::size_t kMaxRatio = 1032;  // of deflate
  const bool is_profile = chunk.type == "iCCP";
  if (!is_profile && chunk.type != "iTXt") return 0;
  const std::size_t bound = std::min(kMaxInflatedBytes, kMaxRatio * chunk.size);
  if (is_profile) return bound;
  const std::string start = std::string(kXmpKeyword) + '\1';  // 1: the packet is compressed
  return as_text(file.at(chunk.offset, start.size())).starts_with(start) ? bound : 0;
}

Metadata read_png_metadata(std::span<const std::byte> file, std::size_t max_bytes) {
  PngMetadataReader reader(max_bytes);
  FileBytes bytes(file);
  PngChunkReader chunks(bytes);
  while (chunks.has_next()) {
    const PngChunk chunk = chunks.next();
    if (chunk.type == "IEND") break;
    reader.take(chunk, file);
  }
  return reader.finish();
}

namespace {

constexpr int kMetadataLevel = 6;  // of libdeflate

void append_color(std::vector<std::byte>& file, const PngColor& color) {
  std::vector<std::byte> data;
  if (color.cicp) append_png_chunk(file, "cICP", std::as_bytes(std::span(*color.cicp)));
  if (color.rendering_intent)
    append_png_chunk(file, "sRGB", std::as_bytes(std::span(&*color.rendering_intent, 1)));
  if (color.gamma) {
    append_big_endian_32(data, *color.gamma);
    append_png_chunk(file, "gAMA", data);
  }
  if (color.chromaticities) {
    data.clear();
    for (const std::uint32_t value : *color.chromaticities) append_big_endian_32(data, value);
    append_png_chunk(file, "cHRM", data);
  }
}

void append_density(std::vector<std::byte>& file, const PixelDensity& density) {
  std::vector<std::byte> data;
  append_big_endian_32(data, density.x);
  append_big_endian_32(data, density.y);
  data.push_back(std::byte(density.is_ratio ? 0 : 1));
  append_png_chunk(file, "pHYs", data);
}

}  // namespace

void append_png_metadata(std::vector<std::byte>& file, const Metadata& metadata) {
  std::vector<std::byte> data;
  if (!metadata.icc.empty()) {
    append(data, std::string_view("ICC profile\0\0", 13));  // name and compression method
    append(data, compress_zlib(metadata.icc, kMetadataLevel));
    append_png_chunk(file, "iCCP", data);
  }
  append_color(file, metadata.color);
  if (metadata.density) append_density(file, *metadata.density);
  if (!metadata.exif.empty()) append_png_chunk(file, "eXIf", metadata.exif);
  if (!metadata.xmp.empty()) {
    data.clear();
    append(data, kXmpKeyword);
    append(data, std::string_view("\0\0\0\0", 4));  // uncompressed, no language, no translation
    append(data, metadata.xmp);
    append_png_chunk(file, "iTXt", data);
  }
}

void append_png_texts(std::vector<std::byte>& file, std::span<const TextEntry> texts) {
  for (const TextEntry& entry : texts) {
    std::vector<std::byte> data;
    append(data, entry.keyword);
    data.push_back(std::byte(0));
    append(data, entry.text);
    append_png_chunk(file, "tEXt", data);
  }
}

}  // namespace eckart::codec
