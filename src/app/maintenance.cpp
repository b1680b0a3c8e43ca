#include "app/maintenance.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <vector>

#include "text/printable.hpp"

namespace eckart::app {
namespace {

// A sweep reads the whole quarantine.
constexpr int kSweepRestFactor = 20;  // minimum pause, as a multiple of the duration of the sweep
constexpr auto kSweepPauseAfterNew = std::chrono::seconds(10),
               kSweepPause = std::chrono::seconds(600);
constexpr auto kForgetInterval = std::chrono::seconds(3600);
constexpr auto kForgetTimeSlice = std::chrono::milliseconds(50);

void log_postponed(const std::exception& error) {
  spdlog::debug("ledger cleanup failed and will be retried: {}",
                text::printable_message(error.what()));
}

}  // namespace

void Maintenance::run(Job& job, const std::stop_token& stop) {
  const auto has_elapsed = [](Instant since, Clock::duration pause) {
    return since == Instant() || Clock::now() - since >= pause;
  };
  if (!has_removed_temporaries_ && job.holds_lock()) {
    quarantine_.remove_stale_temporaries();
    has_removed_temporaries_ = true;
  }
  const Clock::duration pause = has_new_quarantined_ ? kSweepPauseAfterNew : kSweepPause;
  if (has_elapsed(last_sweep_, std::max(pause, kSweepRestFactor * sweep_duration_))) sweep(job);
  if (!forget_cursor_ && has_elapsed(last_forget_, kForgetInterval)) {
    last_forget_ = Clock::now();
    forget_cursor_.emplace();
  }
  if (forget_cursor_) forget_missing_outputs(job, stop);
}

void Maintenance::sweep(Job& job) {
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
  if (removed.empty()) return;
  try {
    job.forget_failures_of_missing_inputs();
  } catch (const std::exception& error) {
    log_postponed(error);
  }
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
