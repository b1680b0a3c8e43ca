#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "core/image_limits.hpp"
#include "core/picture.hpp"

namespace eckart::codec {

/// The metadata that a reader has found so far, within a limit of memory. Damaged metadata does not
/// fail an image: it is dropped, and named in Metadata::dropped.
class MetadataCollector {
 public:
  explicit MetadataCollector(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  Metadata& metadata() { return metadata_; }
  /// The memory that is left.
  std::size_t room() const { return max_bytes_ - metadata_.bytes(); }

  /// Sets a member of metadata(), or drops it if it is too large.
  void set(std::vector<std::byte> Metadata::*member, std::string_view name,
           std::span<const std::byte> bytes);
  void drop(std::string_view name, std::string_view reason);

 private:
  std::size_t max_bytes_;
  Metadata metadata_;
};

/// Metadata in the memory of a file; empty: the file has none.
struct StoredMetadata {
  std::span<const std::byte> icc{}, exif{}, xmp{};
};

/// Returns a copy, with the density of EXIF, without what is damaged or exceeds `max_bytes` of
/// memory: that is named in Metadata::dropped.
Metadata copy_metadata(const StoredMetadata& stored, std::size_t max_bytes);

/// Returns a maximum of the memory of metadata that may be anywhere in a file of this size, and is
/// not compressed. More is dropped.
std::size_t max_stored_metadata(std::size_t file_bytes);

/// Appends "name (reason)" to a list.
void append_dropped(std::string& list, std::string_view name, std::string_view reason);

/// Returns the memory that limits.decode_mb leaves for metadata beside the file and the image.
std::size_t metadata_room(std::size_t file_bytes, const Picture& picture,
                          const ImageLimits& limits);

}  // namespace eckart::codec
