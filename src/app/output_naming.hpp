#pragma once

#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "io/existing_names.hpp"
#include "io/output_tree.hpp"
#include "pipeline/resume.hpp"
#include "pipeline/work_item.hpp"

namespace eckart::app {

/// Chooses the usual or the full names for the outputs of items, see OutputTree::Naming. Outputs
/// that exist keep their names, regardless of the order of the inputs in this run.
class OutputNaming {
 public:
  /// `tree` and `resume` must outlive this object. `resume` is empty without a ledger, or until it
  /// is open. `inputs_may_return`: after their outputs were made.
  OutputNaming(io::OutputTree& tree, const std::optional<pipeline::Resume>& resume,
               bool inputs_may_return)
      : tree_(tree), resume_(resume), inputs_may_return_(inputs_may_return) {}

  /// Reserves the names of the item's outputs, and sets `outputs` and `outputs_are_free`. For one
  /// thread. Throws as OutputTree::reserve() and Resume do.
  void assign(pipeline::WorkItem& item);

  // The functions below are thread-safe. The item has outputs.

  /// Changes the outputs of the item to the usual names if an output with these was made from the
  /// item's input. Requires a ledger. Throws EnvironmentError.
  void use_names_of_earlier_run(pipeline::WorkItem& item) const;
  /// Changes the outputs of the item from the usual to the full names. Returns whether it changed
  /// them. Throws as OutputTree::reserve() does.
  bool use_full_names(pipeline::WorkItem& item);
  /// Logs the full name of an item once, if the outputs have it and are new.
  void log_full_name(const pipeline::WorkItem& item);

 private:
  using Paths = std::vector<std::filesystem::path>;
  bool have_full_names(const pipeline::WorkItem& item);
  io::OutputTree::Naming choose(const pipeline::WorkItem& item);
  bool may_exist(const Paths& outputs);
  bool were_made_from(const pipeline::WorkItem& item, const Paths& outputs) const;

  io::OutputTree& tree_;
  const std::optional<pipeline::Resume>& resume_;
  const bool inputs_may_return_;
  io::ExistingNames existing_names_;  // used by assign()
  std::mutex logged_mutex_;
  std::unordered_set<std::string> logged_;  // inputs whose outputs have their full names
};

}  // namespace eckart::app
