#pragma once

#include <functional>

#include "io/codec.hpp"
#include "pipeline/work_item.hpp"

namespace eckart {

/// Publishes an item's outputs. Throws ItemError for this item's failure, FatalError for the run's.
using WriteItem = std::function<void(WorkItem& item)>;

/// Encodes and publishes every output of an item; may be called by several threads at a time.
WriteItem make_write(const io::Codec& codec, const io::EncodeOptions& options);

}  // namespace eckart
