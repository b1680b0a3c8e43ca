#pragma once

#include <optional>
#include <span>

#include "core/rank_policy.hpp"
#include "pipeline/work_item.hpp"

namespace eckart::pipeline {

/// Sets ranks, outputs and results of the task after set_matrices(). Full ranks are excluded from
/// the task: at a rank of min(rows, cols) the reconstruction equals the image. Their indices are
/// stored in WorkItem::full_rank_outputs. If all ranks are full, adds the outputs at once and sets
/// WorkItem::is_full_rank. If the task has known factors, no rank is excluded. The item refers to
/// `ranks`.
/// `chroma_rank` is that of Cb and Cr in ColorMode::ycbcr; nullopt: as Y. If `wants_factors`, the
/// backend computes the factors of all outputs, also of full ranks.
void prepare_task(WorkItem& item, std::span<const RankPolicy> ranks,
                  const std::optional<RankPolicy>& chroma_rank = {}, bool wants_factors = false);

/// Inserts copies of the input as the full-rank outputs, in rank order. Call it once, after
/// computing.
void add_full_rank_outputs(WorkItem& item);

}  // namespace eckart::pipeline
