#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/color_mode.hpp"
#include "core/factors.hpp"
#include "core/image_format.hpp"
#include "core/peak_choice.hpp"
#include "core/preparation.hpp"
#include "core/rank_policy.hpp"
#include "core/residual_choice.hpp"
#include "core/solver_kind.hpp"

namespace eckart::pipeline {

/// How to treat an existing output that was made from the same input with other settings.
enum class OnSettingsChange {
  refuse,     ///< report an output collision
  keep,       ///< keep the output as done
  reprocess,  ///< make the output again
};

/// The settings of an output that affect its bytes, or what is known about them. The backend is
/// excluded: outputs of all backends are equivalent, and a run that lost its GPU continues on the
/// CPU.
struct PixelSettings {
  OutputFormat format = OutputFormat::png;
  SolverKind solver = SolverKind::automatic;
  Certificate certificate = Certificate::estimate;
  bool is_deterministic = false;
  EncodeOptions encode{};  ///< used are those of the format
  MetadataPolicy metadata = MetadataPolicy::keep;
  bool has_stamp = true;
  ResidualChoice residual{};  ///< of a residual
  Decoder decoder = Decoder::strict;
  AlphaPolicy alpha = AlphaPolicy::keep;
  Preparation preparation{};
  ColorMode color = ColorMode::channels;
  std::optional<RankPolicy> chroma_rank = {};
  std::vector<RankPolicy> ranks;
  FactorType factors = FactorType::none;  ///< of factors, for which settings of images are not used
  /// Used only if a rank is by PSNR. Compared as a choice, not as the peak of an image that it
  /// comes to, which is known only after reading: for DICOM, `auto` and `dtype` lead to other
  /// ranks.
  PeakChoice peak = {};
};

/// Returns the text by which the ledger records settings: "png, solver auto, rank 20". An output is
/// made again only if its text has changed.
std::string settings_text(const PixelSettings& settings);

/// Whether factors that were written with the settings `recorded` are in float32, and are those of
/// the matrices that the settings `now` decompose, by the same solver. The number of triplets may
/// differ. Both are texts of settings_text() for factors.
bool are_usable_factors(std::string_view recorded, std::string_view now);

/// Describes the difference of two texts of settings_text(), such as "rank 20 -> 7". If the old
/// settings are unknown, `before` is empty.
std::string settings_difference(std::string_view before, std::string_view now);

}  // namespace eckart::pipeline
