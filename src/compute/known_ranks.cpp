#include "compute/known_ranks.hpp"

#include <algorithm>
#include <utility>

#include "compute/task_rank_rule.hpp"

namespace eckart::compute {
namespace {

PlaneSpectrum spectrum_of(const Factors& matrix) {
  return {.values = matrix.s.data(),
          .are_roots = true,
          .count = matrix.rank(),
          .rows = matrix.rows,
          .cols = matrix.cols,
          .squared_norm = matrix.squared_norm};
}

/// Chooses ranks for a limit of the squared error: the known triplets of all channels compete, and
/// a channel of which all are used competes no longer. Returns whether they suffice. A file that
/// was written for the same limit may miss it by rounding.
bool choose_ranks_within(const RankRule& rule, std::vector<PlaneSpectrum> spectra,
                         std::vector<int>& ranks) {
  constexpr double kTolerance = 1e-3;  // 0.004 dB
  bool is_complete = true;
  double squared_norm = 0, squared_error = 0;
  for (PlaneSpectrum& spectrum : spectra) {
    is_complete = is_complete && spectrum.is_complete();
    squared_norm += spectrum.squared_norm;
    spectrum.rows = spectrum.cols = spectrum.count;
  }
  choose_ranks(rule, spectra.data(), int(spectra.size()), ranks.data());
  for (std::size_t c = 0; c < spectra.size(); ++c) {
    squared_error += spectra[c].squared_norm;
    for (int i = 0; i < ranks[c]; ++i) squared_error -= spectra[c][i];
  }
  const double limit =
      rule.kind == RankRule::Kind::missing_share ? rule.limit * squared_norm : rule.limit;
  return is_complete || squared_error <= (1 + kTolerance) * limit;
}

}  // namespace

std::optional<std::vector<int>> choose_known_ranks(const Task& task, std::size_t output,
                                                   const ChannelGroup& group) {
  const auto matrices =
      std::span(task.known_factors).subspan(std::size_t(group.first), std::size_t(group.count));
  std::vector<int> ranks;
  for (const Factors& matrix : matrices) ranks.push_back(matrix.rank());
  if (rank_policy(task, output, group.first).kind == RankPolicy::Kind::full) return ranks;
  std::vector<PlaneSpectrum> spectra;
  for (const Factors& matrix : matrices) spectra.push_back(spectrum_of(matrix));
  const RankRule rule = make_rank_rule(task, output, group.first);
  const bool limits_error =
      rule.kind == RankRule::Kind::missing_share || rule.kind == RankRule::Kind::squared_error;
  const bool is_enough = limits_error && !task.known_loss_db
                             ? choose_ranks_within(rule, spectra, ranks)
                             : choose_ranks(rule, spectra.data(), group.count, ranks.data());
  return is_enough ? std::optional(std::move(ranks)) : std::nullopt;
}

std::string describe_missing_triplets(std::span<const Factors> matrices) {
  std::string kept;
  const bool are_equal = std::ranges::all_of(
      matrices, [&](const Factors& m) { return m.rank() == matrices[0].rank(); });
  for (const Factors& matrix : matrices.first(are_equal ? 1 : matrices.size()))
    kept += (kept.empty() ? "" : ", ") + std::to_string(matrix.rank());
  return "more singular values than the file has: " + kept + " of " +
         std::to_string(std::min(matrices[0].rows, matrices[0].cols));
}

bool do_known_factors_suffice(const Task& task) {
  const int min_rank = task.min_factor_rank.value_or(0);
  if (task.wants_spectrum || std::ranges::any_of(task.known_factors, [&](const Factors& matrix) {
        return matrix.rank() < min_rank;
      }))
    return false;
  for (const ChannelGroup& group : channel_groups(task)) {
    for (std::size_t i = 0; i < task.ranks.size(); ++i)
      if (!choose_known_ranks(task, i, group)) return false;
  }
  return true;
}

}  // namespace eckart::compute
