#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace eckart::text {

/// Returns the number of inserted, deleted and replaced letters and swaps of neighbors that turn
/// one word into the other (optimal string alignment distance).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Returns the candidate that a person who typed `word` probably meant: the one with the smallest
/// edit distance in lower case, at most a third of the length, or the only one that begins with the
/// word.
std::optional<std::string> closest_word(std::string_view word,
                                        const std::vector<std::string>& candidates);

/// Returns "; did you mean run?", or an empty text if no candidate is close.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace eckart::text
