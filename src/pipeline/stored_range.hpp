#pragma once

#include "core/image.hpp"
#include "core/picture.hpp"
#include "pipeline/work_item.hpp"

namespace eckart::pipeline {

/// Clamps the pixels of a DICOM image whose samples have fewer bits than the image: resizing may
/// exceed the range of these.
void clamp_to_stored_bits(Picture& picture);

/// The same for the outputs of an item, after restore_colors(). Sets WorkItem::errors if that
/// changes the errors of samples.
void clamp_outputs_to_stored_bits(WorkItem& item);

}  // namespace eckart::pipeline
