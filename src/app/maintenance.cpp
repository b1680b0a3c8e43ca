#include "app/maintenance.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <vector>

#include "app/quarantine_list.hpp"
#include "files/entry_exists.hpp"
#include "text/printable.hpp"

namespace eckart::app {
namespace {

// A sweep reads the whole quarantine, a check of failures the status of each failed input.
constexpr int kRestFactor = 20;  // minimum pause, as a multiple of their duration
constexpr auto kSweepPauseAfterNew = std::chrono::seconds(10),
               kSweepPause = std::chrono::seconds(600);
constexpr auto kFailureCheckPause = std::chrono::seconds(30);
constexpr auto kForgetInterval = std::chrono::seconds(3600);
constexpr auto kForgetTimeSlice = std::chrono::milliseconds(50);

void log_postponed(const std::exception& error) {
  spdlog::debug("ledger cleanup failed and will be retried: {}",
                text::printable_message(error.what()));
}

}  // namespace

void Maintenance::run(Job& job, const std::stop_token& stop, bool has_inputs, Instant now) {
  const auto has_elapsed = [](Instant since, Clock::duration pause) {
    return since == Instant() || Clock::now() - since >= pause;
  };
  if (!has_removed_temporaries_ && job.holds_lock()) {
    quarantine_.remove_stale_temporaries();
    has_removed_temporaries_ = true;
  }
  const Clock::duration pause = has_new_quarantined_ ? kSweepPauseAfterNew : kSweepPause;
  if (has_elapsed(last_sweep_, std::max(pause, kRestFactor * sweep_duration_))) sweep();
  const Clock::duration check_pause =
      std::max<Clock::duration>(kFailureCheckPause, kRestFactor * failure_check_duration_);
  if (has_inputs && now - last_failure_check_ >= check_pause) forget_failures(job, now);
  if (!forget_cursor_ && has_elapsed(last_forget_, kForgetInterval)) {
    last_forget_ = Clock::now();
    forget_cursor_.emplace();
  }
  if (forget_cursor_) forget_missing_outputs(job, stop);
}

void Maintenance::sweep() {
  const Instant start = Clock::now();
  has_new_quarantined_ = false;
  io::QuarantineUsage usage;
  const auto removed = quarantine_.sweep(std::chrono::system_clock::now(), &usage);
  quarantine_files_ = usage.files;
  quarantine_bytes_ = usage.bytes;
  for (const std::filesystem::path& file : removed)
    spdlog::warn("{}: removed from the quarantine (limit of age or size)",
                 text::printable(file.native()));
  last_sweep_ = Clock::now();
  sweep_duration_ = last_sweep_ - start;
}

/// Such a record describes nothing any more.
void Maintenance::remove_kept_records_of_missing_inputs() {
  for (const QuarantineEntry& entry : list_quarantine(io::quarantine_folder(output_))) {
    if (!io::is_kept_record(entry.record_file) || !entry.input || entry.root.empty() ||
        files::entry_exists(*entry.input))
      continue;
    quarantine_.remove_kept_record(entry.input->lexically_relative(entry.root));
    has_new_quarantined_ = true;  // to be counted again
  }
}

void Maintenance::forget_failures(Job& job, Instant now) {
  const Instant start = Clock::now();
  try {
    remove_kept_records_of_missing_inputs();
    job.forget_failures_of_missing_inputs(&missing_inputs_);
  } catch (const std::exception& error) {
    log_postponed(error);
  }
  last_failure_check_ = now;
  failure_check_duration_ = Clock::now() - start;
}

/// Runs for one time slice, because the same thread maintains all watches.
void Maintenance::forget_missing_outputs(Job& job, const std::stop_token& stop) {
  const Instant end = Clock::now() + kForgetTimeSlice;
  try {
    do {
      forget_cursor_ = job.forget_missing_outputs(*forget_cursor_);
    } while (forget_cursor_ && !stop.stop_requested() && Clock::now() < end);
  } catch (const std::exception& error) {  // the next image reports the same error
    log_postponed(error);
    forget_cursor_.reset();
  }
}

}  // namespace eckart::app
