#include "pipeline/output_stamp.hpp"

#include <array>
#include <charconv>
#include <cmath>

#include "core/rank_spec.hpp"

namespace eckart::pipeline {
namespace {

/// Few digits, so that the same image gives the same text whatever solver computed it.
std::string threshold_text(double sigma) {
  std::array<char, 32> text;
  const auto [end, error] =
      std::to_chars(text.data(), text.data() + text.size(), sigma, std::chars_format::general, 4);
  return std::string(text.data(), end);
}

}  // namespace

std::vector<TextEntry> output_stamp(const WorkItem& item, std::size_t output,
                                    const std::string& program) {
  if (program.empty()) return {};
  const std::size_t rank = item.rank_index(output);
  std::string channel_ranks, thresholds;
  bool has_thresholds = true;  // a copy of the input was not decomposed
  for (const compute::PlaneResult& plane : item.task.results[rank]) {
    const char* separator = channel_ranks.empty() ? "" : ",";
    channel_ranks += separator + std::to_string(plane.rank);
    has_thresholds = has_thresholds && std::isfinite(plane.sigma_threshold);
    thresholds += separator + threshold_text(plane.sigma_threshold);
  }
  std::vector<TextEntry> texts{{"Software", program},
                               {"eckart:rank", to_string(item.output_ranks[rank])},
                               {"eckart:channel_ranks", channel_ranks}};
  if (has_thresholds) texts.push_back({"eckart:sigma_threshold", thresholds});
  if (item.color != ColorMode::channels) texts.push_back({"eckart:color", to_string(item.color)});
  return texts;
}

}  // namespace eckart::pipeline
