#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "io/codec.hpp"
#include "io/input_file.hpp"
#include "io/input_guard.hpp"
#include "io/output_tree.hpp"
#include "io/source.hpp"
#include "pipeline/work_item.hpp"

namespace eckart {

/// Names an item's outputs and makes them its own; called in the order of arrival. Throws as
/// LoadItem.
using AssignOutputs = std::function<void(WorkItem& item)>;

/// How the outputs of an item are to be named, where that is known before.
using ChooseNaming = std::function<io::OutputTree::Naming(const WorkItem& item)>;

/// Claims outputs that no earlier item has, that are no input of the command line and not the
/// item's own file. Both must outlive it.
AssignOutputs make_assign_outputs(io::OutputTree& outputs, const io::InputGuard& inputs,
                                  ChooseNaming choose_naming = {});

/// The item of one arrival, its outputs claimed; failed where that or finding it failed.
ItemPtr make_work_item(io::SourceItem arrival, const AssignOutputs& assign_outputs);

/// Waits for bytes of the budget; empty when the run is aborted.
using ReserveBytes = std::function<flow::Budget::Reservation(std::size_t bytes)>;

/// Skips an item that is done already. `open` is its file, or nullptr if it is not open yet. Throws
/// as LoadItem.
using SkipIfDone = std::function<void(WorkItem& item, const io::InputFile* open)>;

/// Fills in an item's task, unless it is skipped. Throws ItemError for this item's failure,
/// FatalError for the run's.
using LoadItem = std::function<void(WorkItem& item, const ReserveBytes& reserve)>;

/// Asks `skip_if_done`, if any; reads the header and checks it against the limits and against what
/// `outputs` can hold; reserves, at once, what the file's bytes and decoding them take or what the
/// pixels of input and outputs take, whichever is more; reads the rest, decodes, and gives back
/// what the pixels do not take. The backend makes so many `copies` of the pixels, the first of
/// which is the task's own. May be called by several threads at a time. Must outlive the items,
/// whose ranks it keeps.
LoadItem make_load(const io::Limits& limits, const std::vector<RankPolicy>& ranks,
                   const io::Codec& outputs, SkipIfDone skip_if_done = {}, int copies = 1);

}  // namespace eckart
