#pragma once

#include "pipeline/work_item.hpp"

namespace eckart::pipeline {

/// Clamps the outputs of an item to largest_stored_sample(), after restore_colors(). Sets
/// WorkItem::errors if that changes the errors of samples.
void clamp_outputs_to_stored_bits(WorkItem& item);

}  // namespace eckart::pipeline
