#include "app/watched_folder.hpp"

#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/printable.hpp"
#include "io/file.hpp"
#include "io/real_path.hpp"
#include "io/sha256.hpp"
#include "io/taken_file.hpp"
#include "telemetry/reason_note.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;

/// Whether it lies in a part of the input that is not looked into.
bool is_excluded(const settings::Watch& watch) {
  return std::any_of(watch.exclude.begin(), watch.exclude.end(), [&](const fs::path& folder) {
    return io::is_or_is_below(watch.output, watch.input / folder);
  });
}

JobRequest job_request(const settings::Watch& watch) {
  return {.settings = watch.settings,
          .inputs = is_excluded(watch) ? std::vector<fs::path>() : std::vector{watch.input},
          .files_from = {},
          .output = watch.output,
          .long_lived = true};
}

/// Whether a file that is still written to, or a busy machine, may be why.
bool may_pass(Reason reason) {
  switch (reason) {
    case Reason::not_found:
    case Reason::unreadable:
    case Reason::empty_file:
    case Reason::not_an_image:
    case Reason::corrupt:
    case Reason::out_of_memory:
    case Reason::compute_failed:
    case Reason::not_written:
      return true;
    default:
      return false;
  }
}

/// Whether this process may make files in the folder of an output, or in the nearest around it.
bool may_write_beside(const fs::path& output) {
  fs::path folder = output.parent_path();
  while (::access(folder.c_str(), F_OK) != 0 && folder != folder.parent_path())
    folder = folder.parent_path();
  return ::access(folder.c_str(), W_OK | X_OK) == 0;
}

/// What goes its way again without having been counted.
void defer(WorkItem& item, Stage stage, const std::string& why) {
  item.outcome = Outcome::deferred(stage, Reason::none, why);
  item.publication.clear();
  item.published = item.recorded = true;
}

}  // namespace

WatchedFolder::WatchedFolder(settings::Watch watch)
    : watch_(std::move(watch)),
      quarantine_(watch_.output, {watch_.quarantine.keep_days, watch_.quarantine.max_mb}) {
  const Job checked(job_request(watch_));
}

io::WatchOptions WatchedFolder::options() const {
  return {.root = watch_.input,
          .exclude = watch_.exclude,
          .follow_links = watch_.follow_links,
          .settle = std::chrono::milliseconds(watch_.settle_ms),
          .patience = std::chrono::seconds(watch_.patience_s),
          .rescan = std::chrono::seconds(watch_.rescan_s),
          .poll = std::chrono::seconds(watch_.poll_s)};
}

/// Prepared, and at its place.
std::shared_ptr<Job> WatchedFolder::job() {
  const std::lock_guard lock(mutex_);
  if (job_) {
    try {
      job_->check_place();
      return job_;
    } catch (const EnvironmentError& error) {
      spdlog::warn("{}", printable(error.what()));
      job_.reset();  // those who are at work with it keep it as long
    }
  }
  check_device();
  try {
    auto job = std::make_shared<Job>(job_request(watch_));
    job->prepare();
    job_ = std::move(job);
  } catch (const FatalError& error) {
    throw EnvironmentError(error.what());
  }
  struct stat status {};
  if (::stat(watch_.output.c_str(), &status) == 0) device_ = status.st_dev;
  return job_;
}

/// A disk that is gone leaves the folder that it was mounted on, or one around it: what is written
/// there would be lost beneath it when it is back.
void WatchedFolder::check_device() {
  if (!device_) return;
  fs::path there = watch_.output;
  struct stat status {};
  while (::stat(there.c_str(), &status) != 0 && there != there.parent_path())
    there = there.parent_path();
  if (status.st_dev == *device_) return;
  throw EnvironmentError("the file system of " + printable(watch_.output.native()) +
                         " is another than before: it is waited for; a reload goes on there");
}

bool WatchedFolder::wants(const io::Arrival& arrival, const FileState& state) {
  const std::shared_ptr<Job> job = this->job();
  if (!keeps()) return true;  // what is done is still to be moved or deleted
  WorkItem item;
  item.file = arrival.file;
  item.relative = arrival.relative;
  item.state = state;
  try {
    if (job->is_done(item)) return false;
    return !job->has_failed(item) || !quarantine_.has_note(item.relative);
  } catch (const FatalError& error) {  // its ledger is locked by another, say
    throw EnvironmentError(error.what());
  }
}

/// What the machine is to blame for becomes the item's outcome.
template <class Step>
void WatchedFolder::attempt_or_defer(WorkItem& item, Stage stage, const Step& step) {
  try {
    const std::shared_ptr<Job> job = this->job();
    if (item.keeps && item.keeps != job)
      throw EnvironmentError(printable(watch_.output.native()) + " was replaced meanwhile");
    item.keeps = job;
    step(*job);
  } catch (const DeviceLost&) {
    throw;
  } catch (const EnvironmentError& error) {
    defer(item, stage, error.what());
  } catch (const FatalError& error) {  // its ledger is locked by another, say
    defer(item, stage, error.what());
  }
}

void WatchedFolder::claim(WorkItem& item) {
  attempt_or_defer(item, Stage::source, [&](Job& job) {
    item.state = io::state_of(item.file);
    job.claim(item);
  });
}

void WatchedFolder::load(WorkItem& item, const Reserve& reserve) {
  attempt_or_defer(item, Stage::load, [&](Job& job) { job.load(item, reserve); });
}

void WatchedFolder::write(WorkItem& item) {
  attempt_or_defer(item, Stage::write, [&](Job& job) { job.write(item); });
}

/// What may be half written, or what no file is to blame for, comes again.
void WatchedFolder::postpone(WorkItem& item) const {
  Outcome& outcome = item.outcome;
  if (outcome.result != Result::failed) return;
  if (outcome.reason == Reason::not_written && !may_write_beside(item.outputs.front()))
    return defer(item, outcome.stage, outcome.detail);
  // What cannot be read may be good, and stays.
  const bool is_over = item.last_try && outcome.reason != Reason::unreadable;
  if (is_over || !may_pass(outcome.reason)) return;
  outcome.result = Result::deferred;
  const auto level = item.last_try ? spdlog::level::warn : spdlog::level::debug;
  spdlog::log(level, "{}: to be tried again: {}", printable(item.file.native()),
              printable(outcome.detail));
}

void WatchedFolder::publish(std::span<ItemPtr> group) {
  for (const ItemPtr& item : group) postpone(*item);
  std::vector<WorkItem*> taken;
  try {
    const std::shared_ptr<Job> job = this->job();
    const auto others = std::stable_partition(
        group.begin(), group.end(), [&](const ItemPtr& item) { return item->keeps == job; });
    for (auto item = others; item != group.end(); ++item) {
      if ((*item)->outcome.result != Result::deferred)
        defer(**item, Stage::write, printable(watch_.output.native()) + " was replaced meanwhile");
      (*item)->published = (*item)->recorded = true;
    }
    const std::span<ItemPtr> own(group.begin(), others);
    job->publish(own);
    for (const ItemPtr& item : own) {
      postpone(*item);
      if (item->outcome.result != Result::deferred && dispose_of(*item))
        taken.push_back(item.get());
    }
    job->record_taken(taken);
  } catch (const DeviceLost&) {
    throw;
  } catch (const std::exception& error) {
    for (const ItemPtr& item : group) {
      if (!item->recorded) defer(*item, Stage::write, error.what());
    }
  }
}

/// Whether its file is gone, since it is done.
bool WatchedFolder::dispose_of(WorkItem& item) {
  try {
    if (item.outcome.result == Result::failed) {
      quarantine(item);
      return false;
    }
    if (keeps()) {
      quarantine_.remove_note(item.relative);
      return false;
    }
    std::optional<io::TakenFile> file = io::TakenFile::take(item.file, item.state);
    if (!file) return false;  // another file by now, and so another arrival
    if (watch_.after == "delete") {
      file->remove();
    } else {
      file->move_to(watch_.move_to / item.relative);
    }
    return true;
  } catch (const ItemError& error) {
    tell_stays(error.what());
  } catch (const EnvironmentError& error) {
    defer(item, Stage::write, error.what());
  }
  return false;
}

/// There may be many of them, at each scan.
void WatchedFolder::tell_stays(const std::string& why) {
  constexpr auto kPause = std::chrono::minutes(1);
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (told_ != std::chrono::steady_clock::time_point() && now - told_ < kPause) {
    ++untold_;
    return;
  }
  const int others = std::exchange(untold_, 0);
  spdlog::warn("{}: it stays, and is tried again at the next scan{}", printable(why),
               others > 0 ? "; so were " + std::to_string(others) + " others" : "");
  told_ = now;
}

void WatchedFolder::quarantine(const WorkItem& item) {
  const bool is_large = item.state.size >> 20 > watch_.settings.limits.file_mb;
  const std::string reason =
      telemetry::to_json({.input = item.file,
                          .outcome = item.outcome,
                          .bytes = item.state.size,
                          .sha256 = is_large ? std::string() : io::sha256_of(item.file),
                          .time = std::chrono::system_clock::now()},
                         ECKART_VERSION);
  if (keeps()) {
    quarantine_.note(item.relative, reason);
  } else {
    std::optional<io::TakenFile> file = io::TakenFile::take(item.file, item.state);
    if (!file) return;
    quarantine_.take(*file, item.relative, reason);
  }
}

void WatchedFolder::look_after() {
  constexpr auto kPause = std::chrono::minutes(10);
  const auto now = std::chrono::steady_clock::now();
  if (now >= due_) {
    due_ = now + kPause;
    sweep_quarantine();
    looked_at_.emplace();
  }
  if (looked_at_) forget_gone();
}

void WatchedFolder::sweep_quarantine() {
  for (const fs::path& file : quarantine_.sweep(std::chrono::system_clock::now()))
    spdlog::warn("{}: removed from the quarantine, by its limits of age and size",
                 printable(file.native()));
}

/// Where results are taken away its ledger would grow for ever.
void WatchedFolder::forget_gone() {
  std::shared_ptr<Job> job;
  {
    const std::lock_guard lock(mutex_);
    job = job_;
  }
  if (!job) return;
  try {
    job->check_place();  // else all of them would be gone
    looked_at_ = job->forget_gone(*looked_at_);
  } catch (const std::exception& error) {  // which the next image finds out, too
    spdlog::debug("what is gone is forgotten later: {}", printable(error.what()));
    looked_at_.reset();
  }
}

void WatchedFolder::record_lost(const InFlight::Items& items) { job()->record_lost(items); }

io::Ending WatchedFolder::end(const WorkItem& item) {
  if (const auto job = std::static_pointer_cast<Job>(item.keeps)) job->release(item);
  if (item.outcome.result != Result::deferred) return io::Ending::settled;
  return item.outcome.reason == Reason::none ? io::Ending::environment : io::Ending::half_written;
}

}  // namespace eckart::app
