#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ledger/ledger.hpp"
#include "pipeline/output_decision.hpp"
#include "pipeline/work_item.hpp"

namespace eckart {

struct ResumeOptions {
  std::filesystem::path root;  ///< the folder that the ledger names outputs by their place in
  /// For each of an item's outputs a text that differs where other settings make other pixels.
  std::vector<std::string> settings;
  OnSettingsChange on_change = OnSettingsChange::refuse;
  std::int64_t min_run = 0;  ///< what was done in runs before this one does not count
  /// Inputs are the same by what they hold, where that is known, and not by their times.
  bool compares_content = false;
  bool uses_gpu = true;  ///< what was computed when a GPU was lost is a suspect
};

/// What of a run is done before it, and the record of what it does. Thread-safe.
class Resume {
 public:
  Resume(ledger::Ledger& ledger, ResumeOptions options);

  /// Looks at the input, by `open` if it is open, and skips the item where all its outputs were
  /// made from it as it is, with these settings, and are there in their sizes. Reads the input
  /// where only its content tells. Marks suspects; what was computed alone when the GPU was lost is
  /// not given to one any more. An output that stays as a killed run has published it is recorded
  /// as done, unless the ledger is read-only. Throws ItemError: output_collision where what is at
  /// the place of an output is in the way; and as check_status_available().
  void check(WorkItem& item, const io::InputFile* open) const;

  /// What is at the place of an output of the item, whose file is in `item.file_state`. Reads no
  /// input: one that check() was not asked about, and that was moved or copied, counts as another.
  /// Throws as check_status_available().
  OutputDecision decision_for(const WorkItem& item, std::size_t output) const;

  /// Whether the first of these outputs is there, and was made from the item's file, some time.
  /// Throws EnvironmentError.
  bool was_made_from(const WorkItem& item, const std::vector<std::filesystem::path>& outputs) const;
  /// Whether what is at the place of one of the item's outputs is a result of another file of the
  /// same folder: of a.jpg, where the item is a.png.
  bool collides_with_sibling(const WorkItem& item) const;

  /// Whether all outputs of an item were made from its file in `item.file_state`, as decision_for()
  /// has it, and are recorded.
  bool is_done(const WorkItem& item) const;
  /// Whether the file has failed in this state, at the last attempt.
  bool has_failed(const WorkItem& item) const;
  /// Of items that are about to be published: a run that is killed in between leaves files at their
  /// places that the next one must know for their own, though their bytes are not those that it
  /// will compute. Throws EnvironmentError.
  void record_intents(std::span<WorkItem* const> items) const;
  /// Of items that could not be published, and are written anew if at all. Those outputs that are
  /// at their places all the same stay announced. Throws EnvironmentError.
  void abandon_intents(std::span<WorkItem* const> items) const;
  /// Of items that are published or have failed. Throws EnvironmentError.
  void record(std::span<WorkItem* const> items) const;

  /// Of done items whose files are gone: what has their names from now on is new. Throws
  /// EnvironmentError.
  void record_removed_inputs(std::span<WorkItem* const> items) const;

  /// Looks at a few of the outputs that are known, those after this one by name, and forgets which
  /// are gone; from the start, also what earlier runs have announced and never published. The last
  /// it looked at; nothing at the end. Throws EnvironmentError, and what `is_missing` throws.
  std::optional<std::string> forget_missing_outputs(
      const std::string& after,
      const std::function<bool(const std::filesystem::path& output)>& is_missing) const;

  /// Of what was computed when the GPU was lost. Throws EnvironmentError.
  void record_suspects(const std::vector<const WorkItem*>& items) const;

 private:
  /// What stands at the place of an output, and what the ledger has of it.
  struct ObservedOutput {
    PathStatus path_status;
    RecordedOutput known{};
  };

  InputIdentity identity(const WorkItem& item) const;
  std::vector<ObservedOutput> observe_outputs(const WorkItem& item) const;
  OutputDecision decision_for(const WorkItem& item, std::size_t output, const RecordedOutput& known,
                              const PathStatus& path_status) const;
  void remove_intents(const WorkItem& item, ledger::LedgerChanges& changes) const;
  /// Whether the ledger may be another run's at the same time: it is not the output folder's own.
  bool is_shared() const { return root_ == root_.root_path(); }
  void remove_stale_intents(
      const std::function<bool(const std::filesystem::path& output)>& is_missing) const;
  void record_kept_intent(const WorkItem& item, std::size_t output, ledger::OutputEntry intent,
                          const PathStatus& path_status) const;
  /// Whether the ledger has another path, state or content of the item's input.
  bool needs_input_update(const ledger::OutputEntry& known, const WorkItem& item) const;
  void hash_content(WorkItem& item, const io::InputFile* open,
                    std::span<const ObservedOutput> outputs) const;
  void compare_inputs(WorkItem& item, const io::InputFile* open,
                      std::span<const ObservedOutput> outputs) const;
  void mark_suspect(WorkItem& item, const std::string& input) const;
  int losses(const std::string& input, const FileState& state) const;
  /// Of an output: what identifies its input, alone.
  ledger::OutputEntry input_entry(const WorkItem& item, const std::filesystem::path& output) const;
  ledger::OutputEntry output_entry(const WorkItem& item, std::size_t output) const;
  std::string absolute(const std::filesystem::path& path) const;
  std::string relative_to_root(const std::filesystem::path& output) const;
  std::string describe_settings_change(std::uint64_t old_settings, std::size_t output) const;

  ledger::Ledger& ledger_;
  const ResumeOptions options_;
  std::vector<std::uint64_t> settings_;  // hashes
  const bool had_failures_;
  const std::filesystem::path current_folder_, root_;  // absolute
  std::unordered_map<std::string, ledger::Suspect> suspects_;
  mutable std::mutex settings_changes_mutex_;
  mutable std::map<std::pair<std::uint64_t, std::size_t>, std::string> settings_changes_;  // few
};

}  // namespace eckart
