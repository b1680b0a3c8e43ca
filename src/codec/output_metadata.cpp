#include "codec/output_metadata.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "codec/exif.hpp"
#include "codec/exif_entries.hpp"
#include "codec/icc_profile.hpp"
#include "codec/metadata_collector.hpp"

namespace eckart::codec {
namespace {

/// Returns whether an image without an ICC profile has other colors if this is lost: those of sRGB.
/// PNG (third edition), 4.3: cICP precedes sRGB, which precedes gAMA and cHRM.
bool changes_colors(const PngColor& color) {
  constexpr std::array<std::uint8_t, 2> kSrgb{1, 13};  // primaries and transfer function, H.273
  constexpr std::int64_t kGamma = 45455, kTolerance = 1000;  // in 1/100000
  constexpr std::array<std::int64_t, 8> kChromaticities{31270, 32900, 64000, 33000,
                                                        30000, 60000, 15000, 6000};
  const auto is_close = [](std::int64_t a, std::int64_t b) {
    return std::abs(a - b) <= kTolerance;
  };
  if (color.cicp) return !std::equal(kSrgb.begin(), kSrgb.end(), color.cicp->begin());
  if (color.rendering_intent) return false;
  return (color.gamma && !is_close(*color.gamma, kGamma)) ||
         (color.chromaticities &&
          !std::ranges::equal(*color.chromaticities, kChromaticities, is_close));
}

/// Removes what the format cannot hold.
void limit(Metadata& metadata, const Codec& codec) {
  const std::string format = to_string(codec.format);
  const auto check = [&](std::vector<std::byte>& bytes, std::size_t max_bytes, const char* name) {
    if (bytes.size() <= max_bytes) return;
    append_dropped(metadata.dropped, name,
                   (max_bytes == 0 ? "not in " : "too large for ") + format);
    bytes.clear();
  };
  check(metadata.icc, codec.metadata_limits.icc, "ICC profile");
  check(metadata.exif, codec.metadata_limits.exif, "EXIF");
  check(metadata.xmp, codec.metadata_limits.xmp, "XMP");
  if (metadata.density && !codec.metadata_limits.has_density) {
    append_dropped(metadata.dropped, "resolution", "not in " + format);
    metadata.density.reset();
  }
  if (!codec.metadata_limits.has_png_color) {
    if (metadata.icc.empty() && changes_colors(metadata.color))
      append_dropped(metadata.dropped, "gamma, chromaticities or cICP", "not in " + format);
    metadata.color = {};
  }
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
    remove_description(result.exif);
    make_xmp_upright(result.xmp);
  }
  limit(result, codec);
  return result;
}

}  // namespace eckart::codec
