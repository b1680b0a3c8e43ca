#include "app/output_settings.hpp"

#include "pipeline/settings_change.hpp"

namespace eckart::app {

std::vector<std::string> output_settings(const settings::Settings& settings) {
  std::vector<std::string> texts;
  for (const RankPolicy& rank : settings.ranks)
    texts.push_back(pipeline::settings_text({.format = settings.output.format,
                                             .solver = settings.solver,
                                             .certificate = settings.certificate,
                                             .is_deterministic = settings.deterministic,
                                             .jpeg_quality = settings.output.jpeg_quality,
                                             .webp_quality = settings.output.webp_quality,
                                             .decoder = settings.input.decoder,
                                             .alpha = settings.input.alpha,
                                             .preparation = settings.input.preparation(),
                                             .rank = rank,
                                             .peak = settings.quality.peak}));
  return texts;
}

}  // namespace eckart::app
