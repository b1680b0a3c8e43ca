#pragma once

#include <optional>
#include <span>

#include "core/rank_policy.hpp"
#include "pipeline/work_item.hpp"

namespace eckart::pipeline {

/// Sets ranks and results of the task after set_matrices(). Excluded are ranks of which an
/// earlier run has written everything, and full ranks: at a rank of min(rows, cols) the
/// reconstruction equals the image. Their indices are stored in WorkItem::uncomputed_ranks. If no
/// rank is left, calls complete_outputs() and sets WorkItem::skips_backend. If the task has known
/// factors, no rank is full. The item refers to `ranks`.
/// `chroma_rank` is that of Cb and Cr in ColorMode::ycbcr; nullopt: as Y. If `wants_factors`, and
/// those of the item are to be written, the backend computes the factors of all ranks.
void prepare_task(WorkItem& item, std::span<const RankPolicy> ranks,
                  const std::optional<RankPolicy>& chroma_rank = {}, bool wants_factors = false);

/// Allocates the outputs of the task. Call it when the task is computed: then they use the memory
/// of images that were just written, instead of new pages for each image that waits.
void allocate_outputs(compute::Task& task);

/// Inserts, in rank order, what the backend did not compute: copies of the input as full-rank
/// outputs, and an empty image without results for each rank that is not needed. Call it once,
/// after computing.
void complete_outputs(WorkItem& item);

}  // namespace eckart::pipeline
