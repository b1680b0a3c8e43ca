#include "core/rank_policy.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace eckart {

RankPolicy parse_rank(std::string_view spec) {
  RankPolicy policy;
  const char* end = spec.data() + spec.size();
  const auto [rest, error] = std::from_chars(spec.data(), end, policy.k);
  if (error != std::errc{} || rest != end || policy.k < 1) {
    throw std::invalid_argument("rank '" + std::string(spec) + "': expected a positive integer");
  }
  return policy;
}

namespace {

/// Returns the text without spaces at its ends.
std::string_view without_spaces(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

}  // namespace

std::vector<RankPolicy> parse_ranks(std::string_view specs) {
  std::vector<RankPolicy> policies;
  for (;;) {
    const std::size_t comma = specs.find(',');
    const RankPolicy policy = parse_rank(without_spaces(specs.substr(0, comma)));
    if (std::find(policies.begin(), policies.end(), policy) != policies.end()) {
      throw std::invalid_argument("rank '" + to_string(policy) + "' is listed twice");
    }
    policies.push_back(policy);
    if (comma == std::string_view::npos) return policies;
    specs.remove_prefix(comma + 1);
  }
}

std::string to_string(const RankPolicy& policy) { return std::to_string(policy.k); }

int choose_rank(const RankPolicy& policy, int rows, int cols) {
  return std::min({policy.k, rows, cols});
}

}  // namespace eckart
