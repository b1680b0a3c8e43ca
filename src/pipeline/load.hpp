#pragma once

#include <functional>
#include <vector>

#include "io/codec.hpp"
#include "io/output_tree.hpp"
#include "pipeline/work_item.hpp"

namespace eckart {

/// Waits for bytes of the budget; empty when the run is aborted.
using Reserve = std::function<flow::Budget::Reservation(std::size_t bytes)>;

/// Fills in an item's task. Throws ItemError for this item's failure, FatalError for the run's.
using LoadItem = std::function<void(WorkItem& item, const Reserve& reserve)>;

/// Claims the outputs, reads the file, checks its header against the limits, reserves the bytes of input and
/// outputs, decodes. `outputs` must outlive it; may be called by several threads at a time.
LoadItem make_load(io::OutputTree& outputs, const io::Limits& limits,
                   const std::vector<RankPolicy>& ranks);

}  // namespace eckart
