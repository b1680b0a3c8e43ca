#pragma once

#include <optional>

#include "core/rank_policy.hpp"
#include "pipeline/work_item.hpp"

namespace eckart::pipeline {

/// Takes the ranks that the factors of the input do not suffice for out of the task, and records
/// their outputs in WorkItem::unavailable_outputs; so does it with an output of the factors of all
/// ranks. If no rank is left, sets WorkItem::skips_backend. `chroma_rank` is that of the settings.
/// Requires a prepared task with known factors and its peak. Throws ItemError(unsupported) if the
/// input gives no output, and none of an earlier run is kept.
void leave_out_unavailable_ranks(WorkItem& item, const std::optional<RankPolicy>& chroma_rank = {});

}  // namespace eckart::pipeline
