#include "app/output_naming.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "text/printable.hpp"

namespace eckart::app {

namespace fs = std::filesystem;
using Naming = io::OutputTree::Naming;

void OutputNaming::assign(pipeline::WorkItem& item) {
  item.outputs = tree_.reserve(item.relative, choose(item));
  item.outputs_are_free = !inputs_may_return_ && !may_exist(item.outputs);
  if (!resume_) log_full_name(item);
}

/// Whether files may be at these paths. To look for a missing file in a folder, the kernel waits
/// for the threads that write to it, so a listing at the start of a run takes the place of that. A
/// file that another program creates later is met when the output is published.
bool OutputNaming::may_exist(const Paths& outputs) {
  return tree_.is_case_insensitive() || std::ranges::any_of(outputs, [&](const fs::path& output) {
           return existing_names_.may_contain(output);
         });
}

bool OutputNaming::were_made_from(const pipeline::WorkItem& item, const Paths& outputs) const {
  return resume_ && resume_->was_made_from(item, outputs);
}

/// Whether an output that was made from the item's input has the full name.
bool OutputNaming::have_full_names(const pipeline::WorkItem& item) {
  // The input of a run arrives once, so that its outputs are those of earlier runs. That of a
  // service may return after its outputs were made.
  if (!resume_ || !(inputs_may_return_ || resume_->had_outputs())) return false;
  const Paths full = tree_.outputs_of(item.relative, Naming::full);
  return (inputs_may_return_ || may_exist(full)) && were_made_from(item, full);
}

/// Returns the full name if an output of the item has it already. Also returns it if a folder
/// beside the input has the usual name, because the outputs of that folder need a folder of this
/// name.
Naming OutputNaming::choose(const pipeline::WorkItem& item) {
  if (have_full_names(item)) return Naming::full;
  if (item.sibling_folders && item.sibling_folders->empty()) return Naming::usual;
  const Paths usual = tree_.outputs_of(item.relative);
  std::error_code none;
  const bool is_folder = std::ranges::any_of(usual, [&](const fs::path& output) {
    if (item.sibling_folders) return item.sibling_folders->contains(output.filename().native());
    return fs::is_directory(item.file.parent_path() / output.filename(), none);
  });
  return is_folder && !were_made_from(item, usual) ? Naming::full : Naming::usual;
}

void OutputNaming::use_names_of_earlier_run(pipeline::WorkItem& item) const {
  if (tree_.have_usual_names(item.outputs, item.relative)) return;
  Paths usual = tree_.outputs_of(item.relative);
  if (!were_made_from(item, usual)) return;
  item.outputs = std::move(usual);
  item.outputs_are_free = false;
}

bool OutputNaming::use_full_names(pipeline::WorkItem& item) {
  const Paths usual = tree_.outputs_of(item.relative);
  if (item.outputs != usual || tree_.outputs_of(item.relative, Naming::full) == usual) return false;
  item.outputs = tree_.reserve(item.relative, Naming::full);
  item.outputs_are_free = false;  // not known
  return true;
}

void OutputNaming::log_full_name(const pipeline::WorkItem& item) {
  if (tree_.have_usual_names(item.outputs, item.relative) || were_made_from(item, item.outputs))
    return;
  const Paths usual = tree_.outputs_of(item.relative);
  {
    const std::lock_guard lock(logged_mutex_);
    if (!logged_.insert(item.relative.native()).second) return;
  }
  spdlog::info("{}: output is {}, because {} is reserved for another input",
               text::printable(item.file.native()), text::printable(item.outputs.front().native()),
               text::printable(usual.front().native()));
}

}  // namespace eckart::app
