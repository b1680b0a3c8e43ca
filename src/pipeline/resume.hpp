#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ledger/ledger.hpp"
#include "pipeline/output_decision.hpp"
#include "pipeline/work_item.hpp"

namespace eckart::pipeline {

struct ResumeOptions {
  std::filesystem::path root;  ///< output names in the ledger are relative to this folder
  /// One text for each output of an item. It differs if different settings give different pixels.
  std::vector<std::string> settings;
  /// The text of factors of these settings; empty if kept factors are not used.
  std::string factors_settings{};
  OnSettingsChange on_change = OnSettingsChange::refuse;
  std::int64_t min_run = 0;  ///< reprocess outputs of runs before this one; 0: none
  /// Whether inputs are compared by content hash, if it is known, instead of mtime.
  bool compares_content = false;
  bool compares_inode = false;  ///< see InputIdentity; for inputs that are removed when done
  bool uses_gpu = true;         ///< mark inputs that were in flight when a GPU was lost as suspects
  bool syncs_results = false;   ///< whether record() syncs results, not only publish intents
};

/// Decides which outputs of earlier runs are kept, and records the outputs of this run in the
/// ledger. Thread-safe.
class Resume {
 public:
  Resume(ledger::Ledger& ledger, ResumeOptions options);

  /// Skips the item if all its outputs exist with the recorded sizes, and were made from this input
  /// with these settings. Reads the input, through `open` if that is not null, only if its content
  /// must be compared. Marks suspects. A suspect that lost the GPU while it was computed alone is
  /// computed on the CPU. An output that a killed run published is recorded as done if it is kept,
  /// unless the ledger is read-only. Throws ItemError(output_collision) if another file is at the
  /// path of an output; also throws as check_status_available().
  void check(WorkItem& item, const io::InputFile* open) const;

  /// Returns the first of these files that has usable factors of the item: recorded as done, of the
  /// input in `item.file_state`, and with settings that are_usable_factors(). Throws nothing that
  /// concerns the files.
  std::optional<KeptFactors> find_factors(const WorkItem& item,
                                          std::span<const std::filesystem::path> files) const;
  /// Whether find_factors() may find something.
  bool may_have_factors() const { return !factors_settings_.empty(); }

  /// Decides about one output of the item, for the input state in `item.file_state`. Reads no
  /// input: without an earlier check(), a moved or copied input counts as another. Throws as
  /// check_status_available().
  OutputDecision decision_for(const WorkItem& item, std::size_t output) const;

  /// Whether earlier runs made outputs, or may have.
  bool had_outputs() const { return had_outputs_; }
  /// Whether one of these outputs exists and was made from the item's file in any state. The others
  /// may be missing, such as those of ranks that were added.
  /// Throws EnvironmentError.
  bool was_made_from(const WorkItem& item, const std::vector<std::filesystem::path>& outputs) const;
  /// Whether a file at the path of one of the item's outputs was made from another input of the
  /// same folder, such as a.jpg if the item is a.png.
  bool collides_with_sibling(const WorkItem& item) const;

  /// Whether all outputs of the item were made from its file in the state `item.file_state`, and
  /// are recorded; see decision_for().
  bool is_done(const WorkItem& item) const;
  /// Whether the last attempt to process the file in this state failed.
  bool has_failed(const WorkItem& item) const;
  /// Removes the publish intents of items that were not published. Keeps the intents of outputs
  /// that are at their final paths. Throws EnvironmentError.
  void abandon_intents(std::span<WorkItem* const> items) const;
  /// Records published, failed and skipped items, and publish intents of the items `next` before
  /// they are published, all or nothing. With the intents, the next run identifies the outputs of a
  /// killed run, although their bytes may differ from its own. Throws EnvironmentError.
  void record(std::span<WorkItem* const> items, std::span<WorkItem* const> next = {}) const;

  /// Records that the inputs of these completed items were removed, so that later files with their
  /// names are new inputs. Throws EnvironmentError.
  void record_removed_inputs(std::span<WorkItem* const> items) const;

  /// Checks the next few recorded outputs after `after`, in order of name, and removes missing ones
  /// from the ledger. If `after` is empty, also removes stale publish intents of earlier runs.
  /// Returns the last output checked; nullopt at the end. Throws EnvironmentError, and exceptions
  /// of `is_missing`.
  std::optional<std::string> forget_missing_outputs(
      const std::string& after,
      const std::function<bool(const std::filesystem::path& output)>& is_missing) const;

  /// Records the items that were in flight when the GPU was lost. Throws EnvironmentError.
  void record_suspects(const std::vector<const WorkItem*>& items) const;

 private:
  /// The file at the path of an output, and its ledger entry.
  struct ObservedOutput {
    PathStatus path_status;
    RecordedOutput known{};
  };

  void add_results(std::span<WorkItem* const> items, ledger::LedgerChanges& changes) const;
  void add_intents(std::span<WorkItem* const> items, ledger::LedgerChanges& changes) const;
  InputIdentity identity(const WorkItem& item) const;
  std::vector<ObservedOutput> observe_outputs(const WorkItem& item) const;
  OutputDecision decision_for(const WorkItem& item, std::size_t output, const RecordedOutput& known,
                              const PathStatus& path_status) const;
  void remove_intents(const WorkItem& item, ledger::LedgerChanges& changes) const;
  /// Whether other runs may use the ledger at the same time: it is not inside the output folder.
  bool is_shared() const { return root_ == root_.root_path(); }
  void remove_stale_intents(
      const std::function<bool(const std::filesystem::path& output)>& is_missing) const;
  void record_kept_intent(const WorkItem& item, std::size_t output, ledger::OutputEntry intent,
                          const PathStatus& path_status) const;
  /// Whether path, state or content hash of the input differ from the ledger entry.
  bool needs_input_update(const ledger::OutputEntry& known, const WorkItem& item) const;
  void hash_content(WorkItem& item, const io::InputFile* open,
                    std::span<const ObservedOutput> outputs) const;
  void compare_inputs(WorkItem& item, const io::InputFile* open,
                      std::span<const ObservedOutput> outputs) const;
  void mark_suspect(WorkItem& item, const std::string& input) const;
  int losses(const std::string& input, const files::FileState& state) const;
  /// Returns an entry with only the output name and the fields that identify its input.
  ledger::OutputEntry input_entry(const WorkItem& item, const std::filesystem::path& output) const;
  ledger::OutputEntry output_entry(const WorkItem& item, std::size_t output) const;
  std::string absolute(const std::filesystem::path& path) const;
  std::string relative_to_root(const std::filesystem::path& output) const;
  std::string describe_settings_change(std::uint64_t old_settings, std::size_t output) const;

  ledger::Ledger& ledger_;
  const ResumeOptions options_;
  std::vector<std::uint64_t> settings_;                // hashes
  std::set<std::uint64_t> factors_settings_;           // hashes of usable factors
  const bool had_failures_, had_outputs_;              // of earlier runs
  const std::filesystem::path current_folder_, root_;  // absolute
  std::unordered_map<std::string, ledger::Suspect> suspects_;
  mutable std::mutex settings_changes_mutex_;
  // Results of describe_settings_change() by their arguments.
  mutable std::map<std::pair<std::uint64_t, std::size_t>, std::string> settings_changes_;
};

}  // namespace eckart::pipeline
