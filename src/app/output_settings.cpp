#include "app/output_settings.hpp"

#include <utility>

#include "pipeline/settings_change.hpp"

namespace eckart::app {

EncodeOptions encode_options(const settings::OutputSettings& output) {
  return {.jpeg_quality = output.jpeg_quality,
          .webp_quality = output.webp_quality,
          .jpeg_subsampling = output.jpeg_subsampling,
          .jpeg_progressive = output.jpeg_progressive,
          .jpeg_optimize = output.jpeg_optimize,
          .png = output.png};
}

std::optional<io::OutputTree> make_output_tree(const settings::Settings& settings,
                                               const std::filesystem::path& root) {
  const settings::OutputSettings& output = settings.output;
  if (!output.writes_files()) return std::nullopt;
  const bool has_images = output.format != OutputFormat::none;
  return std::optional<io::OutputTree>(
      std::in_place, root,
      output.name.empty() ? io::OutputTree::default_name(has_images ? settings.ranks.size() : 1)
                          : output.name,
      has_images ? &codec::codec_for(output.format) : nullptr, settings.ranks,
      io::ExtraOutputs{.residuals = output.residual.is_written(),
                       .factors = output.factors != FactorType::none});
}

namespace {

/// Without ranks.
pipeline::PixelSettings pixel_settings(const settings::Settings& settings) {
  const settings::OutputSettings& output = settings.output;
  return {.format = output.format,
          .solver = settings.solver,
          .certificate = settings.certificate,
          .is_deterministic = settings.deterministic,
          .encode = encode_options(output),
          .metadata = output.metadata,
          .has_stamp = output.stamp,
          .decoder = settings.input.decoder,
          .alpha = settings.input.alpha,
          .preparation = settings.preparation(),
          .color = settings.color,
          .chroma_rank = settings.chroma_rank,
          .ranks = {},
          .peak = settings.quality.peak};
}

}  // namespace

std::string factors_settings(const settings::Settings& settings) {
  pipeline::PixelSettings text_of = pixel_settings(settings);
  text_of.factors = FactorType::float32;
  text_of.ranks = largest_policies(settings.ranks);
  return pipeline::settings_text(text_of);
}

std::vector<std::string> output_settings(const settings::Settings& settings) {
  const settings::OutputSettings& output = settings.output;
  pipeline::PixelSettings texts_of = pixel_settings(settings);
  std::vector<std::string> texts;
  const auto add = [&](std::vector<RankPolicy> ranks) {
    texts_of.ranks = std::move(ranks);
    texts.push_back(pipeline::settings_text(texts_of));
  };
  if (output.format != OutputFormat::none) {
    for (const RankPolicy& rank : settings.ranks) add({rank});
    texts_of.residual = output.residual;
    if (output.residual.is_written())
      for (const RankPolicy& rank : settings.ranks) add({rank});
  }
  texts_of.factors = output.factors;
  if (output.factors != FactorType::none) add(largest_policies(settings.ranks));
  return texts;
}

}  // namespace eckart::app
