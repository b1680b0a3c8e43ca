#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace eckart::cluster {

/// A job array of Slurm with a task for each shard of a manifest. All paths are absolute.
struct SlurmArray {
  std::filesystem::path program, manifest, settings, output;
  std::filesystem::path logs;  ///< folder of the log of each task: JOB_TASK.log
  std::string name;            ///< of the job
  std::int64_t tasks = 0;
  std::int64_t max_running = 0;  ///< tasks at the same time; 0: no limit
  int gpus_per_task = 0;
  std::vector<std::string> run_options = {};  ///< further options of eckart run
  /// Options of sbatch as on its command line. They become lines of the script, so that they hold
  /// whenever it is submitted.
  std::vector<std::string> sbatch_options = {};
};

/// How often a task is requeued at most.
inline constexpr int kMaxRequeues = 10;
/// How long before its time limit a task is told to end.
inline constexpr int kDrainSeconds = 60;

/// Returns the script for sbatch. A task that is stopped at its time limit, or that can be repeated
/// with success (ExitCode::temporary), is requeued; one that was canceled is not. Throws
/// FatalError(usage) if Slurm has no way to write `logs` or an option, or if an option sets the
/// array.
std::string slurm_script(const SlurmArray& array);

}  // namespace eckart::cluster
