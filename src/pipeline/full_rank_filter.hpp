#pragma once

#include <vector>

#include "core/rank_policy.hpp"
#include "pipeline/work_item.hpp"

namespace eckart {

/// Keeps full ranks from being computed: of a rank that is not below min(rows, cols) the
/// reconstruction is the image itself. Thread-safe. Must outlive the items, whose ranks it keeps.
class FullRankFilter {
 public:
  explicit FullRankFilter(const std::vector<RankPolicy>& ranks);

  /// Fills in the task of a decoded image: ranks, outputs and results of what is to be computed.
  /// The rest is named in WorkItem::full_rank_outputs. If nothing is left to compute, the outputs
  /// are there.
  void prepare_task(WorkItem& item) const;

 private:
  const std::vector<RankPolicy> ranks_;
  std::vector<std::vector<RankPolicy>> reduced_ranks_;  // by the count of full ranks: the others
};

/// Puts the outputs that were not computed among those that were, each at its rank's place. Once,
/// after computing.
void add_full_rank_outputs(WorkItem& item);

}  // namespace eckart
