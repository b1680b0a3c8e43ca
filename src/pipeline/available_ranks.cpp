#include "pipeline/available_ranks.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "compute/known_ranks.hpp"
#include "core/error.hpp"

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

/// The policies of a rank of the task, of Y or of chroma, that need more triplets than are known.
std::vector<RankPolicy> unavailable_policies(const compute::Task& task, std::size_t rank) {
  std::vector<RankPolicy> policies;
  for (const compute::ChannelGroup& group : compute::channel_groups(task)) {
    if (!compute::choose_known_ranks(task, rank, group))
      policies.push_back(compute::rank_policy(task, rank, group.first));
  }
  return policies;
}

}  // namespace

void leave_out_unavailable_ranks(WorkItem& item) {
  compute::Task& task = item.task;
  const std::vector<std::size_t> computed = computed_ranks(item);
  std::vector<RankPolicy> unavailable;
  std::vector<std::size_t> indices;  // in the task
  for (std::size_t i = 0; i < computed.size(); ++i) {
    const std::vector<RankPolicy> policies = unavailable_policies(task, i);
    if (policies.empty()) continue;
    indices.push_back(i);
    for (const RankPolicy& policy : policies) {
      if (std::ranges::find(unavailable, policy) == unavailable.end())
        unavailable.push_back(policy);
    }
  }
  if (indices.empty()) return;
  item.unavailable_reason = compute::describe_missing_triplets(unavailable, task.known_factors);
  if (indices.size() == computed.size() || !item.has_reconstructions())
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
}

}  // namespace eckart::pipeline
