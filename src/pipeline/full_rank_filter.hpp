#pragma once

#include <vector>

#include "core/rank_policy.hpp"
#include "pipeline/work_item.hpp"

namespace eckart::pipeline {

/// Excludes full ranks from computation: at a rank of at least min(rows, cols) the reconstruction
/// equals the image. Thread-safe. Must outlive the items, which reference its ranks.
class FullRankFilter {
 public:
  explicit FullRankFilter(const std::vector<RankPolicy>& ranks);

  /// Sets ranks, outputs and results of a decoded image's task, for the ranks that are not full.
  /// The indices of the others are stored in WorkItem::full_rank_outputs. If all ranks are full, it
  /// adds the outputs at once and sets WorkItem::is_full_rank.
  void prepare_task(WorkItem& item) const;

 private:
  const std::vector<RankPolicy> ranks_;
  // For each number of full ranks: the remaining ranks.
  std::vector<std::vector<RankPolicy>> reduced_ranks_;
};

/// Inserts copies of the input as the full-rank outputs, in rank order. Call it once, after
/// computing.
void add_full_rank_outputs(WorkItem& item);

}  // namespace eckart::pipeline
