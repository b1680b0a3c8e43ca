#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace eckart::cluster {

/// The tasks of a job array, by what they do.
struct SlurmTasks {
  std::int64_t pending = 0, running = 0;
  /// Slurm's reason why a task is pending: that of a held task if there is one, else of the first.
  /// Empty if Slurm gives no reason.
  std::string pending_reason{};
  bool is_held = false;  ///< the task of pending_reason waits until a person releases it
  std::int64_t unfinished() const { return pending + running; }
};

/// Returns the largest number of tasks of a job array that begins with task 1: MaxArraySize - 1 of
/// the configuration of Slurm. Throws FatalError(unavailable) if Slurm does not answer.
std::int64_t max_slurm_tasks();

/// Submits a script. Returns the number of the job. Throws FatalError(unavailable) with what sbatch
/// says.
std::string submit_to_slurm(const std::filesystem::path& script);

/// Returns the number of a job of this name that has not ended; empty if there is none. Throws
/// FatalError(unavailable) if Slurm does not answer.
std::string find_slurm_job(const std::string& name);

/// Counts the tasks of a job that have not ended. Throws FatalError(unavailable) if Slurm does not
/// answer.
SlurmTasks slurm_tasks(const std::string& job);

/// Parses what `squeue --array --format="%t %r"` prints: a line with the state of each task, and
/// the reason for it.
SlurmTasks parse_slurm_states(const std::string& lines);

}  // namespace eckart::cluster
