#pragma once

#include "core/color_mode.hpp"
#include "core/image.hpp"
#include "pipeline/work_item.hpp"

namespace eckart::pipeline {

/// Sets the input of the item's task: the matrices of the image in this mode.
void set_matrices(WorkItem& item, Image image, ColorMode mode);

/// Ends what set_matrices() began: the task's input is the image again, and its outputs are images.
/// The results of planes are in levels of the image then. Sets WorkItem::errors if errors of
/// samples are not those of planes. Does nothing if it was called before.
void restore_colors(WorkItem& item);

}  // namespace eckart::pipeline
