#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/image.hpp"
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

struct InspectedImage {
  inspection::InspectedFile report;
  std::vector<RankPicture> pictures = {};  ///< of the original and of each rank, if requested
};

/// Inspects the image of a file, which is decoded and prepared as a run with these settings does.
/// `ranks`: if empty, inspection::default_ranks(). Throws as read_picture() and
/// inspection::inspect().
InspectedImage inspect_image(const std::filesystem::path& file, const settings::Settings& settings,
                             std::vector<RankPolicy> ranks, bool needs_pictures);

/// Returns a contact sheet of the pictures, as RGB of 8 bits.
Image contact_sheet(const InspectedImage& inspected);

/// Returns a page with the pictures that needs no other file.
std::string inspection_page(const InspectedImage& inspected);

}  // namespace eckart::app
