#include "text/closest_word.hpp"

#include <algorithm>
#include <numeric>

#include "text/ascii.hpp"

namespace eckart::text {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Rows of the table of distances between prefixes of a and b.
  std::vector<std::size_t> before_previous, previous(b.size() + 1), row(b.size() + 1);
  std::iota(previous.begin(), previous.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = previous[j - 1] + (a[i - 1] != b[j - 1]);
      row[j] = std::min({previous[j] + 1, row[j - 1] + 1, replaced});
      const bool is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_swap) row[j] = std::min(row[j], before_previous[j - 2] + 1);
    }
    before_previous = previous;
    previous = row;
  }
  return previous[b.size()];
}

std::optional<std::string> closest_word(std::string_view word,
                                        const std::vector<std::string>& candidates) {
  constexpr std::size_t kMaxLength = 64;  // longer words are no typing errors
  if (word.empty() || word.size() > kMaxLength) return std::nullopt;
  const std::string* closest = nullptr;
  std::size_t distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t of_candidate =
        edit_distance(to_lower_ascii(std::string(word)), to_lower_ascii(candidate));
    if (of_candidate >= distance) continue;
    distance = of_candidate;
    closest = &candidate;
  }
  if (closest) return *closest;
  const auto begins = [&](const std::string& candidate) { return candidate.starts_with(word); };
  if (std::count_if(candidates.begin(), candidates.end(), begins) != 1) return std::nullopt;
  return *std::find_if(candidates.begin(), candidates.end(), begins);
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::optional<std::string> closest = closest_word(word, candidates);
  return closest ? "; did you mean " + *closest + "?" : "";
}

}  // namespace eckart::text
