#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "app/shard_progress.hpp"
#include "cluster/slurm.hpp"
#include "io/manifest.hpp"
#include "logging/progress.hpp"

namespace eckart::cli {

/// Follows a job array of Slurm whose tasks process the shards of a manifest.
class JobFollower {
 public:
  /// `number` is that of the job.
  JobFollower(std::filesystem::path output, const io::Manifest& manifest, std::string number);

  /// Asks every two seconds until all tasks have ended, or until a stop is requested. Returns
  /// whether all tasks have ended. Logs if tasks are held. Throws FatalError if Slurm gives no
  /// answer for ten minutes.
  bool follow(const std::stop_token& stop);
  /// For the progress line; may be called on another thread meanwhile.
  telemetry::ProgressState state();
  /// Used when follow() has returned.
  const app::ShardProgress& progress() const { return progress_; }

 private:
  std::optional<cluster::SlurmTasks> ask();
  void warn_if_held(const cluster::SlurmTasks& tasks);

  const std::int64_t images_;
  const std::string number_;
  std::chrono::steady_clock::time_point answered_ = std::chrono::steady_clock::now();
  bool is_silent_ = false;
  std::string held_reason_;  // the one that was logged last
  std::mutex mutex_;
  std::condition_variable_any stopped_;
  app::ShardProgress progress_;
  cluster::SlurmTasks tasks_;
};

}  // namespace eckart::cli
