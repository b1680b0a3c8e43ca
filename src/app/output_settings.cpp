#include "app/output_settings.hpp"

#include "core/rank_policy.hpp"

namespace eckart::app {

std::vector<std::string> output_settings(const settings::Settings& settings) {
  std::string text = to_string(settings.output.format) + ", solver " + to_string(settings.solver) +
                     (settings.deterministic ? ", deterministic" : "");
  if (settings.output.format == ImageFormat::jpeg)
    text += ", quality " + std::to_string(settings.output.jpeg_quality);
  // Earlier versions had only the strict decoder, so its text names no decoder.
  if (settings.input.decoder != Decoder::strict)
    text += ", decoder " + to_string(settings.input.decoder);
  std::vector<std::string> texts;
  for (const RankPolicy& rank : parse_ranks(settings.rank))
    texts.push_back(text + ", rank " + to_string(rank));
  return texts;
}

}  // namespace eckart::app
