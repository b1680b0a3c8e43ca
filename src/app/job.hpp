#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "app/output_naming.hpp"
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
#include "pipeline/write.hpp"
#include "settings/settings.hpp"

namespace eckart::app {

struct JobRequest {
  settings::Settings settings;
  std::vector<std::filesystem::path> inputs;  ///< folders and files
  std::filesystem::path files_from;           ///< as in RunRequest
  std::filesystem::path output;               ///< not used if nothing is written
  bool overwrite = false;
  pipeline::OnSettingsChange on_change = pipeline::OnSettingsChange::refuse;
  bool has_report = false;     ///< whether a report tells of each output
  bool wants_spectra = false;  ///< whether tasks have all singular values
  bool measures = false;       ///< whether the outputs are measured only: inputs need pixels
  /// How long to wait for a ledger that another process has locked.
  std::chrono::milliseconds ledger_timeout = ledger::LedgerOptions{}.timeout;
  std::optional<files::LinkPolicy> links{};  ///< of a watch
  bool removes_inputs = false;               ///< whether inputs are moved or deleted when done
  /// Whether the same input may come again in this process, as in a queue.
  bool inputs_may_return = false;
  /// Whether results are durable in the ledger when publish() returns, not a second later.
  bool syncs_results = false;
  /// Whether other processes, also on other machines, write to the output folder at the same time:
  /// other outputs, or the same ones, made from the same inputs.
  bool shares_output = false;
  int restarts = 0;  ///< number of previous processes of this run that lost their GPU
  /// If restarts > 0: the ledger number of the run that the first of them began.
  std::int64_t run_number = 0;
  /// Returns whether an input that was moved away is in the quarantine; may be empty.
  std::function<bool(const std::filesystem::path& input)> is_quarantined{};
};

/// The work from some inputs to one output folder: its names, its lock, its ledger, and the steps
/// of an image that depend on them (see JobSteps). From prepare() until destruction, it holds
/// the FolderLock of the folder. If nothing is written, there is neither folder nor ledger, and
/// the paths of outputs are empty.
class Job : public pipeline::OutputOwner {
 public:
  /// Throws FatalError(usage) if an output could replace an input, and as ledger_file(). Throws
  /// std::invalid_argument if the settings contradict each other.
  explicit Job(JobRequest request);
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// Makes the folder, takes its lock and opens its ledger. Throws EnvironmentError, and FatalError
  /// as FolderLock, prepare_output_root() and Ledger do. It may be called again after an exception.
  void prepare();
  /// Opens the ledger read-only; call it instead of prepare() to inspect what is done.
  void prepare_read_only();

  void assign_outputs(pipeline::WorkItem& item);
  /// Throws ItemError(output_collision) if an output would replace an input. Returns whether a file
  /// exists at the path of an output.
  bool check_outputs(const pipeline::WorkItem& item) const;
  /// Skips the item if it is done already.
  void load(pipeline::WorkItem& item, pipeline::LoadContext& context);
  void write(pipeline::WorkItem& item);
  /// What write() does without the file system; for measurements. Requires that files are written.
  /// The item must stay.
  std::vector<pipeline::EncodedFile> encode(pipeline::WorkItem& item) const;
  void publish(std::span<pipeline::ItemPtr> group);
  void record_suspects(const pipeline::InFlightBatches::Items& items);
  /// See Resume.
  void record_removed_inputs(std::span<pipeline::WorkItem* const> items);

  /// See Resume. Also throws EnvironmentError if the folder was moved or replaced.
  std::optional<std::string> forget_missing_outputs(const std::string& after) const;
  /// Removes the failures of this job's inputs that neither exist nor are quarantined. Throws
  /// EnvironmentError.
  /// If `missing_before` is not null, only of those in it, and it gets those that are missing now:
  /// a file on its way to the quarantine is at neither place for a moment.
  void forget_failures_of_missing_inputs(std::set<std::string>* missing_before = nullptr);

  /// is_done() returns whether the ledger records the file in `item.file_state` as done. A moved or
  /// copied file is not done before skip_if_done() has checked it. has_failed() returns whether its
  /// last attempt failed.
  bool is_done(pipeline::WorkItem& item) const;
  bool has_failed(const pipeline::WorkItem& item) const {
    return resume_ && resume_->has_failed(item);
  }
  /// Skips an item that is done already, as load() does. `open` is the file of the item, if it is
  /// open. Throws ItemError.
  void skip_if_done(pipeline::WorkItem& item, const io::InputFile* open = nullptr);
  /// Describes the file at the path of an output. The state of the input is in `item.file_state`.
  /// Throws as check_status_available().
  pipeline::OutputDecision decision_for(const pipeline::WorkItem& item, std::size_t output) const;
  /// Whether no other process writes to the output folder.
  bool holds_lock() const { return lock_ && lock_->is_held(); }
  /// Returns false if the folder was moved or replaced.
  bool is_in_place() const { return !lock_ || lock_->is_in_place(); }
  /// Throws EnvironmentError if the folder or the ledger was moved or replaced.
  void check_in_place() const override;
  bool has_ledger() const { return ledger_ != nullptr; }
  /// Returns the number of the run in the ledger; 0 if there is no ledger.
  std::int64_t run_number() const { return run_number_; }

  io::CollisionAction resolve_collision(const pipeline::WorkItem& item,
                                        const std::filesystem::path& output,
                                        const std::filesystem::path& written) const override;
  void abandon_intents(std::span<pipeline::WorkItem* const> items) override;
  void record(std::span<pipeline::WorkItem* const> items,
              std::span<pipeline::WorkItem* const> next) override;
  /// Releases the output names that assign_outputs() reserved. Only a service calls it, because its
  /// inputs may return, and others may use their names.
  void release_outputs(const pipeline::WorkItem& item) override;

 private:
  void note_shared_settings(std::span<const pipeline::ItemPtr> group);
  bool is_watch() const { return request_.links.has_value(); }
  bool is_own_input(const std::filesystem::path& input) const;
  void resume_from(std::unique_ptr<ledger::Ledger> ledger);
  void warn_of_unused_bits(const pipeline::WorkItem& item);
  pipeline::WriteOptions write_options() const;
  ledger::RequestEntry ledger_request() const;

  const JobRequest request_;
  std::once_flag has_noted_settings_;
  const std::vector<RankPolicy> ranks_;
  std::optional<io::OutputTree> outputs_;  ///< empty if no outputs are written
  const io::InputGuard guard_;
  std::optional<io::FolderLock> lock_;
  std::optional<io::StaleTemporaries> stale_;
  std::unique_ptr<ledger::Ledger> ledger_;
  std::int64_t run_number_ = 0;
  std::optional<pipeline::Resume> resume_;
  std::optional<OutputNaming> naming_;  ///< empty if no outputs are written
  std::atomic<bool> has_warned_of_bits_ = false;
  pipeline::Loader loader_;
};

}  // namespace eckart::app
