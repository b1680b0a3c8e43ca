#include "io/output_metadata.hpp"

#include "io/exif.hpp"
#include "io/icc_profile.hpp"
#include "io/metadata_collector.hpp"

namespace eckart::io {
namespace {

/// Removes what is larger than the format allows.
void limit(Metadata& metadata, const Codec& codec) {
  const auto check = [&](std::vector<std::byte>& bytes, std::size_t max_bytes, const char* name) {
    if (bytes.size() <= max_bytes) return;
    append_dropped(metadata.dropped, name, "too large for " + to_string(codec.format));
    bytes.clear();
  };
  check(metadata.icc, codec.metadata_limits.icc, "ICC profile");
  check(metadata.exif, codec.metadata_limits.exif, "EXIF");
  check(metadata.xmp, codec.metadata_limits.xmp, "XMP");
}

}  // namespace

Metadata output_metadata(const Metadata& metadata, MetadataPolicy policy, const Codec& codec,
                         const ImageShape& shape) {
  Metadata result;
  result.subsampling = metadata.subsampling;
  if (policy == MetadataPolicy::none) return result;
  result.color = metadata.color;
  if (icc_channels(metadata.icc) == shape.channels) result.icc = metadata.icc;
  if (policy == MetadataPolicy::keep) {
    result.density = metadata.density;
    result.exif = metadata.exif;
    result.xmp = metadata.xmp;
    make_exif_upright(result.exif, shape.rows, shape.cols);
    make_xmp_upright(result.xmp);
  }
  limit(result, codec);
  return result;
}

}  // namespace eckart::io
