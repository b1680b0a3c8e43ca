#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/rank_policy.hpp"

namespace eckart {

/// The forms of a SPEC, for help and errors.
constexpr std::string_view kRankGrammar =
    "20, 10%, energy:0.99, psnr:35, rmse:2, bytes:50%, gd, gd:sigma=3, mp, full, or a range "
    "FIRST:LAST:STEP such as 5:50:5";

/// A list of SPECs that cannot be parsed.
class RankSpecError : public std::invalid_argument {
 public:
  RankSpecError(std::string_view text, std::size_t position, const std::string& reason);
  const std::string& text() const { return text_; }
  /// The index in the text of the first character that is wrong.
  std::size_t position() const { return position_; }
  const std::string& reason() const { return reason_; }

 private:
  std::string text_, reason_;
  std::size_t position_;
};

/// Parses SPEC[,SPEC...], with or without spaces around each SPEC; a range stands for several. No
/// two may be equal. Throws RankSpecError, a std::invalid_argument in one line.
std::vector<RankPolicy> parse_ranks(std::string_view specs);

/// The SPEC that parse_ranks() parses to this policy.
std::string to_string(const RankPolicy& policy);

/// The list that parse_ranks() parses to these policies.
std::string to_string(const std::vector<RankPolicy>& policies);

/// to_string() in characters that suit a file name: letters, digits, '.' and '-'.
std::string file_name_label(const RankPolicy& policy);

}  // namespace eckart
