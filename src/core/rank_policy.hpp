#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

namespace eckart {

/// How the rank of a reconstruction is chosen.
struct RankPolicy {
  int k = 20;  ///< the rank; full rank if min(rows, cols) is smaller

  friend auto operator<=>(const RankPolicy&, const RankPolicy&) = default;
};

/// Parses one SPEC: a positive integer. Throws std::invalid_argument that says what was expected.
RankPolicy parse_rank(std::string_view spec);
/// Parses SPEC[,SPEC...], with or without spaces; the ranks must differ. Throws
/// std::invalid_argument.
std::vector<RankPolicy> parse_ranks(std::string_view specs);

/// The SPEC that parse_rank() parses to this policy.
std::string to_string(const RankPolicy& policy);

/// The rank for a rows x cols matrix: min(k, rows, cols).
int choose_rank(const RankPolicy& policy, int rows, int cols);

}  // namespace eckart
