#include "cli/job_follower.hpp"

#include <spdlog/spdlog.h>

#include <utility>

#include "core/error.hpp"
#include "text/format_count.hpp"
#include "text/printable.hpp"

namespace eckart::cli {
namespace {

constexpr std::chrono::seconds kInterval{2};
/// A controller of Slurm that is started again answers within some minutes.
constexpr std::chrono::minutes kMaxSilence{10};

}  // namespace

JobFollower::JobFollower(std::filesystem::path output, const io::Manifest& manifest,
                         std::string number)
    : images_(manifest.images()),
      number_(std::move(number)),
      progress_(std::move(output), manifest.id, std::int64_t(manifest.shards.size())) {}

bool JobFollower::follow(const std::stop_token& stop) {
  for (;;) {
    const std::optional<cluster::SlurmTasks> tasks = ask();
    {
      const std::lock_guard lock(mutex_);
      progress_.update();
      if (tasks) tasks_ = *tasks;
    }
    if (tasks && tasks->unfinished() == 0) return true;
    if (tasks) warn_if_held(*tasks);
    std::unique_lock lock(mutex_);
    if (stopped_.wait_for(lock, stop, kInterval, [] { return false; }) || stop.stop_requested())
      return false;
  }
}

std::optional<cluster::SlurmTasks> JobFollower::ask() {
  try {
    const cluster::SlurmTasks tasks = cluster::slurm_tasks(number_);
    answered_ = std::chrono::steady_clock::now();
    is_silent_ = false;
    return tasks;
  } catch (const FatalError& error) {
    if (std::chrono::steady_clock::now() - answered_ > kMaxSilence) throw;
    if (!is_silent_) spdlog::warn("{}; asking again", error.what());
    is_silent_ = true;
    return std::nullopt;
  }
}

void JobFollower::warn_if_held(const cluster::SlurmTasks& tasks) {
  const std::string reason = tasks.is_held ? tasks.pending_reason : "";
  if (!reason.empty() && reason != held_reason_)
    spdlog::warn("job {}: Slurm holds tasks ({}); to let them go on: scontrol release {}{}",
                 number_, text::printable_message(reason), number_,
                 reason == "JobHeldAdmin" ? " (by the administrator)" : "");
  held_reason_ = reason;
}

telemetry::ProgressState JobFollower::state() {
  const std::lock_guard lock(mutex_);
  telemetry::ProgressState state;
  state.failed = progress_.failed();
  state.done = progress_.done() + state.failed;
  state.total = images_;
  state.is_total_final = true;
  state.activity = text::format_count(tasks_.running, "task") + " running, " +
                   text::group_digits(tasks_.pending) + " pending";
  if (!tasks_.pending_reason.empty())
    state.activity += " (" + text::printable_message(tasks_.pending_reason) + ")";
  return state;
}

}  // namespace eckart::cli
