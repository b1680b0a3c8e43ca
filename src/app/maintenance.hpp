#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <utility>

#include "app/job.hpp"
#include "core/instant.hpp"
#include "io/quarantine.hpp"

namespace eckart::app {

/// Limits the growth of a watch's quarantine, removes what killed processes left there, failures of
/// inputs that are gone, and ledger entries of deleted outputs.
class Maintenance {
 public:
  /// `quarantine` is that of the output folder, and must outlive this object.
  Maintenance(io::Quarantine& quarantine, std::filesystem::path output)
      : quarantine_(quarantine), output_(std::move(output)) {}

  /// Call it after an input was quarantined; callable from any thread.
  void on_quarantined() { has_new_quarantined_ = true; }
  /// Has the quarantine counted soon, because another process changed it.
  void on_requeued() { has_new_quarantined_ = true; }
  /// What the quarantine had at the last sweep. Callable from any thread.
  io::QuarantineUsage quarantine_usage() const { return {quarantine_files_, quarantine_bytes_}; }
  /// Call it about once per second from one thread, only with the job that has the lock of the
  /// output folder: the quarantine of another process is not ours to sweep. Each call does a small
  /// part of the work, and returns soon after `stop`. `has_inputs`: the input folder is there, so
  /// that an input that is missing was removed. `now` is the time for that.
  void run(Job& job, const std::stop_token& stop, bool has_inputs, Instant now);

 private:
  void sweep();
  void forget_failures(Job& job, Instant now);
  void remove_kept_records_of_missing_inputs();
  void forget_missing_outputs(Job& job, const std::stop_token& stop);

  io::Quarantine& quarantine_;
  const std::filesystem::path output_;
  std::atomic<bool> has_new_quarantined_{true};  // since the last sweep
  std::atomic<std::int64_t> quarantine_files_{0}, quarantine_bytes_{0};
  bool has_removed_temporaries_ = false;
  Instant last_sweep_{}, last_failure_check_{}, last_forget_{};
  Clock::duration sweep_duration_{}, failure_check_duration_{};
  std::set<std::string> missing_inputs_;  // failed inputs, at the last check
  std::optional<std::string>
      forget_cursor_;  // position of forget_missing_outputs(), if it is unfinished
};

}  // namespace eckart::app
