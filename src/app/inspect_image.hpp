#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "codec/codec.hpp"
#include "core/image.hpp"
#include "core/picture.hpp"
#include "core/rank_policy.hpp"
#include "inspection/report.hpp"
#include "settings/settings.hpp"

namespace eckart::app {

/// What a picture of one rank looks like, as 8 bits and reduced to the size of a contact sheet.
struct RankPicture {
  std::string heading, detail;
  Image image;
  Image residual = {};  ///< empty for the original
  int residual_gain = 1;
};

/// With more, pictures would be too small, or sheets too large.
inline constexpr std::size_t kMaxPictureRanks = 100;

struct InspectedImage {
  inspection::InspectedFile report;
  std::vector<RankPicture> pictures = {};  ///< of the original and of each rank, if requested
  Metadata metadata = {};                  ///< of the file; pictures have its ICC profile
};

/// Inspects the image of a file, which is decoded and prepared as a run with these settings does.
/// If it has no ranks: inspection::default_ranks(). Throws as read_picture() and
/// inspection::inspect(), and FatalError(usage) for pictures of more than kMaxPictureRanks ranks.
InspectedImage inspect_image(const std::filesystem::path& file, const settings::Settings& settings,
                             bool needs_pictures);

/// Returns a file with a contact sheet of the pictures, as RGB of 8 bits. Throws
/// ItemError(not_encodable) if the format cannot hold it.
std::vector<std::byte> contact_sheet(const InspectedImage& inspected, const codec::Codec& codec);

/// Returns a page with the pictures that needs no other file.
std::string inspection_page(const InspectedImage& inspected);

}  // namespace eckart::app
