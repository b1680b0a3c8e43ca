#pragma once

#include "pipeline/work_item.hpp"

namespace eckart::pipeline {

/// Takes the ranks that the factors of the input do not suffice for out of the task, and records
/// their outputs in WorkItem::unavailable_outputs; so does it with an output of the factors of all
/// ranks. Requires a prepared task with known factors and its peak. Throws ItemError(unsupported)
/// if nothing is left.
void leave_out_unavailable_ranks(WorkItem& item);

}  // namespace eckart::pipeline
