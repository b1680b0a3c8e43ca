#include "io/metadata_collector.hpp"

#include <algorithm>

namespace eckart::io {

void MetadataCollector::set(std::vector<std::byte> Metadata::*member, std::string_view name,
                            std::span<const std::byte> bytes) {
  if (bytes.size() > room()) return drop(name, "too large");
  (metadata_.*member).assign(bytes.begin(), bytes.end());
}

void MetadataCollector::drop(std::string_view name, std::string_view reason) {
  append_dropped(metadata_.dropped, name, reason);
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

}  // namespace eckart::io
