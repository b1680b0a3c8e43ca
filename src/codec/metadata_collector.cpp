#include "codec/metadata_collector.hpp"

#include <algorithm>
#include <utility>

#include "codec/exif.hpp"
#include "codec/icc_profile.hpp"
#include "codec/orientation.hpp"

namespace eckart::codec {

void MetadataCollector::set(std::vector<std::byte> Metadata::*member, std::string_view name,
                            std::span<const std::byte> bytes) {
  if (bytes.size() > room()) return drop(name, "too large");
  (metadata_.*member).assign(bytes.begin(), bytes.end());
}

void MetadataCollector::drop(std::string_view name, std::string_view reason) {
  append_dropped(metadata_.dropped, name, reason);
}

Metadata copy_metadata(const StoredMetadata& stored, std::size_t max_bytes) {
  MetadataCollector found(max_bytes);
  if (!stored.icc.empty()) {
    if (is_icc_profile(stored.icc)) {
      found.set(&Metadata::icc, "ICC profile", stored.icc);
    } else {
      found.drop("ICC profile", "damaged");
    }
  }
  if (!stored.exif.empty()) {
    if (is_exif(stored.exif)) {
      found.set(&Metadata::exif, "EXIF", stored.exif);
    } else {
      found.drop("EXIF", "damaged");
    }
  }
  found.set(&Metadata::xmp, "XMP", stored.xmp);
  Metadata& metadata = found.metadata();
  metadata.density = exif_density(metadata.exif);
  if (metadata.density && exif_orientation(metadata.exif) > kLastUntransposedOrientation)
    std::swap(metadata.density->x, metadata.density->y);
  return std::move(metadata);
}

std::size_t max_stored_metadata(std::size_t file_bytes) {
  constexpr std::size_t kMaxBytes = std::size_t(64) << 20;
  return std::min(file_bytes, kMaxBytes);
}

void append_dropped(std::string& list, std::string_view name, std::string_view reason) {
  if (!list.empty()) list += ", ";
  list.append(name).append(" (").append(reason).append(")");
}

std::size_t metadata_room(std::size_t file_bytes, const Picture& picture,
                          const ImageLimits& limits) {
  const std::size_t max_bytes = std::size_t(limits.decode_mb) << 20;
  return max_bytes -
         std::min(max_bytes, file_bytes + picture.pixels.bytes() + picture.alpha.bytes());
}

}  // namespace eckart::codec
