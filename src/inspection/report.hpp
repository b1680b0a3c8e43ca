#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/image_format.hpp"
#include "inspection/inspection.hpp"

namespace eckart::inspection {

/// What is known of an inspected file.
struct InspectedFile {
  std::filesystem::path file;
  ImageFormat format = ImageFormat::png;
  std::int64_t file_bytes = 0;
  Inspection inspection = {};
  std::vector<std::string> notes = {};  ///< sentences
};

/// A picture of a page.
struct PagePicture {
  std::string heading, detail;
  std::string uri;                ///< a data URI
  std::string residual_uri = {};  ///< empty: none
  int residual_gain = 1;
};

/// "PNG, 768 x 512 pixels (width x height), 3 channels, 8 bits, 557,596 bytes (raw 1,179,648)";
/// with the color mode, if it is not ColorMode::channels.
std::string image_line(const InspectedFile& of);

/// "PSNR 27.12 dB, SSIM 0.8123".
std::string quality_text(const Reconstruction& result);

/// "rank 20", or "psnr:35: rank 98" if the policy is no number.
std::string heading_text(const Reconstruction& result);

/// Returns tables for people.
std::string to_text(const InspectedFile& of);

/// Returns one JSON object, of kind `inspection`.
std::string to_json(const InspectedFile& of);

/// Returns a page that needs no other file, with these pictures.
std::string to_html(const InspectedFile& of, const std::vector<PagePicture>& pictures);

// Parts that texts and pages share.

struct Cell {
  std::string text;
  double value;  ///< NaN: none
};
inline const std::vector<std::string> kReconstructionHeads = {
    "",  // the SPEC
    "rank", "energy", "PSNR dB", "unrounded", "SSIM", "RMSE", "factor bytes", "of raw"};

/// The cells below kReconstructionHeads. `matrices`: see Inspection::matrices.
std::vector<Cell> reconstruction_cells(const Reconstruction& result, const ImageShape& matrices);

std::string break_even_sentence(const Inspection& inspection);

}  // namespace eckart::inspection
