#include "pipeline/available_ranks.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compute/known_ranks.hpp"
#include "core/error.hpp"
#include "core/rank_spec.hpp"
#include "pipeline/full_rank_filter.hpp"

namespace eckart::pipeline {
namespace {

/// The index of each rank of the task in WorkItem::output_ranks.
std::vector<std::size_t> computed_ranks(const WorkItem& item) {
  std::vector<std::size_t> computed;
  for (std::size_t i = 0; i < item.output_ranks.size(); ++i) {
    if (!std::ranges::binary_search(item.uncomputed_ranks, i)) computed.push_back(i);
  }
  return computed;
}

/// The known triplets do not suffice for these.
struct Unavailable {
  std::vector<std::size_t> indices;  ///< in Task::ranks
  std::vector<RankPolicy> ranks;     ///< of Y, or of all channels, as in the settings
  bool is_chroma = false;            ///< the rank of chroma; then all of Task::ranks
};

Unavailable find_unavailable(const WorkItem& item, const std::vector<std::size_t>& computed) {
  Unavailable unavailable;
  for (std::size_t i = 0; i < computed.size(); ++i) {
    bool is_available = true;
    for (const compute::ChannelGroup& group : compute::channel_groups(item.task)) {
      if (compute::choose_known_ranks(item.task, i, group)) continue;
      is_available = false;
      if (group.first > 0) {
        unavailable.is_chroma = true;
      } else {
        unavailable.ranks.push_back(item.output_ranks[computed[i]]);
      }
    }
    if (!is_available) unavailable.indices.push_back(i);
  }
  return unavailable;
}

/// With the ranks as the user wrote them: those of the task may be in other levels.
std::string describe(const Unavailable& unavailable, const std::optional<RankPolicy>& chroma_rank,
                     std::span<const Factors> matrices) {
  std::string text = unavailable.ranks.empty() ? "" : "rank " + to_string(unavailable.ranks);
  const bool are_both = !text.empty() && unavailable.is_chroma;
  if (unavailable.is_chroma)
    text += (are_both ? " and chroma_rank " : "chroma_rank ") + to_string(chroma_rank.value());
  return text + (are_both ? " need " : " needs ") + compute::describe_missing_triplets(matrices);
}

bool has_kept_output(const WorkItem& item) {
  return std::ranges::any_of(item.skipped_reports,
                             [](const auto& report) { return report.has_value(); });
}

}  // namespace

void leave_out_unavailable_ranks(WorkItem& item, const std::optional<RankPolicy>& chroma_rank) {
  compute::Task& task = item.task;
  const std::vector<std::size_t> computed = computed_ranks(item);
  const Unavailable unavailable = find_unavailable(item, computed);
  const std::vector<std::size_t>& indices = unavailable.indices;
  if (indices.empty()) return;
  item.unavailable_reason = describe(unavailable, chroma_rank, task.known_factors);
  const bool is_any_done = indices.size() < computed.size() || has_kept_output(item);
  if (!is_any_done || !item.has_reconstructions())
    throw ItemError(FailureReason::unsupported, item.unavailable_reason);
  for (auto i = indices.rbegin(); i != indices.rend(); ++i) {
    task.ranks.erase(task.ranks.begin() + std::ptrdiff_t(*i));
    task.results.erase(task.results.begin() + std::ptrdiff_t(*i));
  }
  for (const std::size_t i : indices) {
    item.unavailable_outputs.push_back(computed[i]);
    item.uncomputed_ranks.push_back(computed[i]);
  }
  std::ranges::sort(item.uncomputed_ranks);
  if (item.has_factors) item.unavailable_outputs.push_back(item.outputs.size() - 1);
  task.min_factor_rank.reset();
  item.skips_backend = task.ranks.empty();
  if (item.skips_backend) complete_outputs(item);
}

}  // namespace eckart::pipeline
