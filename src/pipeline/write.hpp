#pragma once

#include <filesystem>
#include <functional>
#include <span>

#include "io/codec.hpp"
#include "pipeline/work_item.hpp"

namespace eckart {

/// Writes an item's outputs, for publishing. Throws ItemError for this item's failure, otherwise
/// EnvironmentError or FatalError.
using WriteItem = std::function<void(WorkItem& item)>;
/// Puts what was written for a group of items to its place, and has it recorded; an item that fails
/// gets its outcome. Throws EnvironmentError: then what is not `published` must be written again,
/// and it is to be called again with all that is not `recorded`. The order of the group is free.
using PublishItems = std::function<void(std::span<ItemPtr> group)>;

/// Encodes every output of an item and adds it to the item's publication. This and the next may be
/// called by several threads at a time.
WriteItem make_write(const io::Codec& codec, const io::EncodeOptions& options);
/// What make_publish() asks and tells others of a group. Each may be empty.
struct PublishHooks {
  /// Before and after it is published; throws EnvironmentError where the outputs have no place any
  /// more.
  std::function<void()> check_in_place{};
  /// Given what is to be published; throws EnvironmentError.
  std::function<void(std::span<WorkItem* const> items)> record_intents{};
  /// What to do where something stands at the place of an output of the item; as
  /// io::ResolveConflict.
  std::function<io::ConflictAction(const WorkItem& item, const std::filesystem::path& output,
                                   const std::filesystem::path& written)>
      resolve_collision{};
  /// Given what was not published, since publishing has thrown, and is written anew if at all.
  std::function<void(std::span<WorkItem* const> items)> abandon_intents{};
  /// Given what is published; throws EnvironmentError.
  std::function<void(std::span<WorkItem* const> items)> record{};
};
PublishItems make_publish(bool durable, PublishHooks hooks = {});

}  // namespace eckart
