#include "app/output_settings.hpp"

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

std::vector<std::string> output_settings(const settings::Settings& settings) {
  std::vector<std::string> texts;
  const auto add = [&](const RankPolicy& rank, const ResidualChoice& residual) {
    texts.push_back(pipeline::settings_text({.format = settings.output.format,
                                             .solver = settings.solver,
                                             .certificate = settings.certificate,
                                             .is_deterministic = settings.deterministic,
                                             .encode = encode_options(settings.output),
                                             .metadata = settings.output.metadata,
                                             .has_stamp = settings.output.stamp,
                                             .residual = residual,
                                             .decoder = settings.input.decoder,
                                             .alpha = settings.input.alpha,
                                             .preparation = settings.preparation(),
                                             .color = settings.color,
                                             .chroma_rank = settings.chroma_rank,
                                             .rank = rank,
                                             .peak = settings.quality.peak}));
  };
  for (const RankPolicy& rank : settings.ranks) add(rank, {});
  if (!settings.output.residual.is_written()) return texts;
  for (const RankPolicy& rank : settings.ranks) add(rank, settings.output.residual);
  return texts;
}

}  // namespace eckart::app
