#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "codec/file_bytes.hpp"
#include "codec/png_chunk_reader.hpp"
#include "core/picture.hpp"

namespace eckart::codec {

/// The inflated size of all metadata of a file: of an ICC profile and an XMP packet, half each.
inline constexpr std::size_t kMaxInflatedMetadata = std::size_t(32) << 20;

/// Returns a maximum of the memory of metadata that is compressed in this chunk; 0 if it has none.
std::size_t max_inflated_metadata(const PngChunk& chunk, FileBytes& file);

/// Reads the chunks iCCP, eXIf, iTXt with XMP, pHYs, gAMA, cHRM, cICP and sRGB, whether the decoder
/// accepts the rest of the file or not. The first chunk of each type counts. PNG (third edition),
/// 11.3. `max_bytes` limits the memory; see MetadataCollector.
Metadata read_png_metadata(std::span<const std::byte> file, std::size_t max_bytes);

/// Appends the chunks of metadata and texts, which belong before IDAT.
void append_png_metadata(std::vector<std::byte>& file, const Metadata& metadata);
void append_png_texts(std::vector<std::byte>& file, std::span<const TextEntry> texts);

}  // namespace eckart::codec
