#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/rank_policy.hpp"
#include "files/link_policy.hpp"
#include "io/folder_lock.hpp"
#include "io/input_guard.hpp"
#include "io/output_tree.hpp"
#include "io/stale_temporaries.hpp"
#include "ledger/ledger.hpp"
#include "pipeline/in_flight_batches.hpp"
#include "pipeline/load.hpp"
#include "pipeline/output_owner.hpp"
#include "pipeline/resume.hpp"
#include "settings/settings.hpp"

namespace eckart::app {

struct JobRequest {
  settings::Settings settings;
  std::vector<std::filesystem::path> inputs;  ///< folders and files
  std::filesystem::path files_from;           ///< as in RunRequest
  std::filesystem::path output;
  bool overwrite = false;
  OnSettingsChange on_change = OnSettingsChange::refuse;
  bool long_lived =
      false;  ///< inputs come again, and others by their names, so claims are released
  std::optional<LinkPolicy> links{};  ///< of a watch
  int restarts = 0;                   ///< processes before this one that have lost their GPU
  std::int64_t run_number =
      0;  ///< where there were some: of the run that they began, in the ledger
  /// Whether an input that was taken away is still kept as one that has failed; may be empty.
  std::function<bool(const std::filesystem::path& input)> is_quarantined{};
};

/// What goes from some inputs to one output folder: its names, lock and ledger, and those steps of
/// an image that depend on them, as JobSteps has them. Between prepare() and its end nobody else
/// writes to the folder.
class Job : public OutputOwner {
 public:
  /// Throws FatalError(usage) where an output could replace an input, and as ledger_file();
  /// std::invalid_argument for settings that do not fit together.
  explicit Job(JobRequest request);
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// Makes the folder, takes its lock, opens its ledger. May be called again where it has thrown:
  /// EnvironmentError, or FatalError as FolderLock, prepare_output_root() and Ledger do.
  void prepare();
  /// Instead: only looks at what is done.
  void prepare_read_only();

  void assign_outputs(WorkItem& item);
  /// Skips the item if it is done already.
  void load(WorkItem& item, const ReserveBytes& reserve);
  void write(WorkItem& item);
  void publish(std::span<ItemPtr> group);
  void record_suspects(const InFlightBatches::Items& items);
  /// As Resume has it.
  void record_removed_inputs(std::span<WorkItem* const> items);

  /// As Resume has it. Throws EnvironmentError, too, where the folder is not at its place.
  std::optional<std::string> forget_missing_outputs(const std::string& after) const;
  /// Of own inputs that are neither there nor quarantined. Throws EnvironmentError.
  void forget_failures_of_missing_inputs();

  /// Whether the file in `item.file_state` is done, as the ledger has it: one that was moved or
  /// copied is not before skip_if_done() has seen it. Else whether it has failed at its last
  /// attempt.
  bool is_done(WorkItem& item) const;
  bool has_failed(const WorkItem& item) const { return resume_ && resume_->has_failed(item); }
  /// Skips an item that is done already, as load() does. `open` is its file, if that is open.
  /// Throws ItemError.
  void skip_if_done(WorkItem& item, const io::InputFile* open = nullptr);
  /// What is at the place of an output of the item, whose file is in `item.file_state`. Throws as
  /// check_status_available().
  OutputDecision decision_for(const WorkItem& item, std::size_t output) const;
  /// False where the folder was moved or replaced.
  bool is_in_place() const { return lock_->is_in_place(); }
  /// Throws EnvironmentError there, and where the ledger was.
  void check_in_place() const override;
  bool has_ledger() const { return ledger_ != nullptr; }
  /// Of the run in the ledger; 0 where none is kept.
  std::int64_t run_number() const { return run_number_; }
  const io::Codec& codec() const { return outputs_.codec(); }

  void record_intents(std::span<WorkItem* const> items) override;
  io::ConflictAction resolve_collision(const WorkItem& item, const std::filesystem::path& output,
                                       const std::filesystem::path& written) const override;
  void abandon_intents(std::span<WorkItem* const> items) override;
  void record(std::span<WorkItem* const> items) override;
  /// After the end of an item that was claimed, where the job is long-lived.
  void release_outputs(const WorkItem& item) override;

 private:
  bool is_own_input(const std::filesystem::path& input) const;
  void resume_from(std::unique_ptr<ledger::Ledger> ledger);
  io::OutputTree::Naming choose_naming(const WorkItem& item) const;
  bool use_full_name(WorkItem& item);
  void log_full_name(const WorkItem& item);
  ledger::RequestEntry ledger_request() const;

  const JobRequest request_;
  const std::vector<RankPolicy> ranks_;
  io::OutputTree outputs_;
  const io::InputGuard guard_;
  std::optional<io::FolderLock> lock_;
  std::optional<io::StaleTemporaries> stale_;
  std::unique_ptr<ledger::Ledger> ledger_;
  std::int64_t run_number_ = 0;
  std::optional<Resume> resume_;
  std::mutex logged_mutex_;
  std::unordered_set<std::string> logged_full_names_;  // inputs whose outputs have their full names
  Loader loader_;
};

/// What of the settings makes other pixels, for each rank, as the ledger knows it. Not the backend:
/// what one has done is as good as what another would do, and a run whose GPU is lost goes on with
/// the CPU.
std::vector<std::string> output_settings(const settings::Settings& settings);

/// Where a run into this folder keeps its ledger; empty if nowhere. Throws FatalError(usage) for
/// another folder's own, whose outputs have their names in that folder.
std::filesystem::path ledger_file(const std::filesystem::path& output,
                                  const settings::FileChoice& choice);

/// Whether that is the folder's own ledger, which names outputs by their places in the folder,
/// though `choice` may give its path.
bool is_own_ledger(const std::filesystem::path& output, const settings::FileChoice& choice);

}  // namespace eckart::app
