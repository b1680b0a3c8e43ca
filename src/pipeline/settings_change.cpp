#include "pipeline/settings_change.hpp"

#include <algorithm>
#include <map>

#include "core/rank_spec.hpp"

namespace eckart::pipeline {
namespace {

// The text omits these values, because outputs of earlier versions have them, or are accepted as if
// they had, but their text has none.
constexpr Decoder kOmittedDecoder = Decoder::strict;
constexpr AlphaPolicy kOmittedAlpha = AlphaPolicy::keep;
constexpr Certificate kOmittedCertificate = Certificate::estimate;
constexpr ColorMode kOmittedColor = ColorMode::channels;
constexpr PeakChoice kOmittedPeak;
constexpr MetadataPolicy kOmittedMetadata = MetadataPolicy::keep;
constexpr JpegSubsampling kOmittedSubsampling = JpegSubsampling::keep;
constexpr PngCompression kOmittedCompression = PngCompression::fast;

/// Returns the value of a setting that is not in the text.
std::string omitted_value(const std::string& name) {
  if (name == "decoder") return to_string(kOmittedDecoder);
  if (name == "alpha") return to_string(kOmittedAlpha);
  if (name == "certificate") return to_string(kOmittedCertificate);
  if (name == "chroma_rank") return "that of rank";
  if (name == "color") return to_string(kOmittedColor);
  if (name == "peak") return to_string(kOmittedPeak);
  if (name == "metadata") return to_string(kOmittedMetadata);
  if (name == "subsampling") return to_string(kOmittedSubsampling);
  if (name == "compression") return to_string(kOmittedCompression);
  return "none";
}

/// Returns values by name, such as "rank" -> "20". The first setting is the format; a setting
/// without a value is a flag.
std::map<std::string, std::string> parse_settings(std::string_view text) {
  std::map<std::string, std::string> settings;
  while (!text.empty()) {
    const std::size_t end = text.find(", ");
    const std::string setting(text.substr(0, end));
    text = end == text.npos ? std::string_view() : text.substr(end + 2);
    const std::size_t space = setting.find(' ');
    if (settings.empty()) {
      settings["format"] = setting;
    } else if (space == setting.npos) {
      settings[setting] = "on";
    } else {
      settings[setting.substr(0, space)] = setting.substr(space + 1);
    }
  }
  return settings;
}

std::string jpeg_text(const EncodeOptions& options) {
  std::string text = ", quality " + std::to_string(options.jpeg_quality);
  if (options.jpeg_subsampling != kOmittedSubsampling)
    text += ", subsampling " + to_string(options.jpeg_subsampling);
  if (options.jpeg_progressive) text += ", progressive";
  if (options.jpeg_optimize) text += ", optimized";
  return text;
}

/// The settings of image files.
std::string image_text(const PixelSettings& settings) {
  std::string text;
  if (settings.format == OutputFormat::jpeg) text += jpeg_text(settings.encode);
  if (settings.format == OutputFormat::webp)
    text += ", quality " + (settings.encode.webp_quality == kLosslessWebp
                                ? "lossless"
                                : std::to_string(settings.encode.webp_quality));
  if (settings.format == OutputFormat::png && settings.encode.png != kOmittedCompression)
    text += ", compression " + to_string(settings.encode.png);
  if (settings.metadata != kOmittedMetadata) text += ", metadata " + to_string(settings.metadata);
  if (!settings.has_stamp) text += ", unstamped";
  if (settings.residual.is_written()) text += ", residual " + to_string(settings.residual);
  return text;
}

}  // namespace

std::string settings_text(const PixelSettings& settings) {
  const bool is_image = settings.factors == FactorType::none;
  std::string text = (is_image ? to_string(settings.format) : to_string(ImageFormat::npz)) +
                     ", solver " + to_string(settings.solver);
  if (settings.certificate != kOmittedCertificate)
    text += ", certificate " + to_string(settings.certificate);
  if (settings.is_deterministic) text += ", deterministic";
  text += is_image ? image_text(settings) : ", factors " + to_string(settings.factors);
  if (settings.decoder != kOmittedDecoder) text += ", decoder " + to_string(settings.decoder);
  if (settings.alpha != kOmittedAlpha) text += ", alpha " + to_string(settings.alpha);
  const Preparation& preparation = settings.preparation;
  if (preparation.gray) text += ", gray";
  if (preparation.size.is_set()) text += ", size " + to_string(preparation.size);
  if (preparation.normalize != Normalization::none)
    text += ", normalize " + to_string(preparation.normalize);
  if (settings.color != kOmittedColor && settings.color != ColorMode::gray)
    text += ", color " + to_string(settings.color);
  if (settings.chroma_rank) text += ", chroma_rank " + to_string(*settings.chroma_rank);
  text += ", rank " + to_string(settings.ranks);
  const auto is_psnr = [](const RankPolicy& rank) { return rank.kind == RankPolicy::Kind::psnr; };
  const bool has_psnr_target = std::ranges::any_of(settings.ranks, is_psnr) ||
                               (settings.chroma_rank && is_psnr(*settings.chroma_rank));
  if (has_psnr_target && settings.peak != kOmittedPeak)
    text += ", peak " + to_string(settings.peak);
  return text;
}

bool are_usable_factors(std::string_view recorded, std::string_view now) {
  auto recorded_settings = parse_settings(recorded), settings = parse_settings(now);
  const auto factors = recorded_settings.find("factors");
  if (factors == recorded_settings.end() || factors->second != to_string(FactorType::float32))
    return false;
  for (auto* of : {&recorded_settings, &settings}) {
    for (const char* name : {"factors", "rank", "chroma_rank", "peak"}) of->erase(name);
  }
  return recorded_settings == settings;
}

std::string settings_difference(std::string_view before, std::string_view now) {
  if (before.empty()) return "settings that were not recorded";
  const auto old_settings = parse_settings(before), new_settings = parse_settings(now);
  const auto value = [](const auto& settings, const std::string& name) {
    const auto found = settings.find(name);
    return found != settings.end() ? found->second : omitted_value(name);
  };
  std::string difference;
  std::map<std::string, std::string> names = old_settings;
  names.insert(new_settings.begin(), new_settings.end());
  for (const auto& [name, unused] : names) {
    const std::string was = value(old_settings, name), is = value(new_settings, name);
    if (was == is) continue;
    difference += (difference.empty() ? "" : ", ") + name + " " + was + " -> " + is;
  }
  return difference;
}

}  // namespace eckart::pipeline
