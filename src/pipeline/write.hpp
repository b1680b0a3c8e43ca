#pragma once

#include <span>

#include "io/codec.hpp"
#include "pipeline/output_owner.hpp"
#include "pipeline/work_item.hpp"

namespace eckart {

/// Encodes every output of an item that is not skipped, and adds it to the item's publication under
/// a temporary name. Throws ItemError for this item's failure, EnvironmentError, FatalError.
void encode_outputs(WorkItem& item, const io::Codec& codec, const EncodeOptions& options);

/// Moves the written outputs of a group of items to their places and has `owner` record them: every
/// item is ItemState::recorded afterwards, one that fails has its outcome. Deferred items are not
/// published. Throws EnvironmentError: then what is not yet ItemState::published must be written
/// again, and everything that is not recorded must be given again.
void publish_outputs(std::span<ItemPtr> group, OutputOwner& owner, bool durable);

}  // namespace eckart
