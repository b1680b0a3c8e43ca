#include "app/watched_folder.hpp"

#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

#include "app/watch_warnings.hpp"
#include "core/error.hpp"
#include "io/is_within.hpp"
#include "logging/log.hpp"
#include "text/printable.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;

/// Short, because other threads may wait as long as the one that waits for the ledger.
constexpr std::chrono::milliseconds kLedgerTimeout{200};

/// Returns whether the output folder is in a part of the input folder that is not scanned.
bool is_excluded(const settings::WatchSettings& watch) {
  return std::any_of(watch.exclude.begin(), watch.exclude.end(), [&](const fs::path& folder) {
    return io::is_within(watch.output, watch.input / folder);
  });
}

JobRequest job_request(const settings::WatchSettings& watch) {
  return {.settings = watch.settings,
          .inputs = is_excluded(watch) ? std::vector<fs::path>() : std::vector{watch.input},
          .files_from = {},
          .output = watch.output,
          .on_change = watch.on_change == settings::OnChange::reprocess
                           ? pipeline::OnSettingsChange::reprocess
                           : pipeline::OnSettingsChange::keep,
          .ledger_timeout = kLedgerTimeout,
          .links = watch.links,
          .removes_inputs = !watch.keeps_inputs()};
}

/// Throws the errors of the constructor of Job, before the service has any work.
void check_job(const settings::WatchSettings& watch) {
  const auto reject = [&](const std::exception& error) {
    throw FatalError(ExitCode::configuration, watch.location + ": " + error.what());
  };
  try {
    const Job job(job_request(watch));
  } catch (const FatalError& error) {
    reject(error);
  } catch (const std::invalid_argument& error) {
    reject(error);
  }
}

/// Returns whether the cause may be an incomplete file or a busy machine.
bool is_transient(FailureReason reason) {
  switch (reason) {
    case FailureReason::unreadable:
    case FailureReason::empty_file:
    case FailureReason::not_an_image:
    case FailureReason::corrupt:
    case FailureReason::out_of_memory:
    case FailureReason::compute_failed:
    case FailureReason::not_written:
      return true;
    default:
      return false;
  }
}

/// The input is processed again later; it counts neither as done nor as failed.
void defer_item(pipeline::WorkItem& item, Stage stage, const std::string& detail) {
  item.outcome = Outcome::deferred(stage, detail);
  item.publication.clear();
}

}  // namespace

WatchedFolder::WatchedFolder(settings::WatchSettings watch)
    : watch_(std::move(watch)),
      quarantine_(watch_.output,
                  {.keep_days = watch_.quarantine.keep_days,
                   .max_mb = watch_.quarantine.max_mb,
                   .durable = watch_.settings.durability != settings::Durability::none,
                   .max_copy_mb = watch_.settings.limits.file_mb,
                   .keeps_inputs = watch_.keeps_inputs()}) {
  check_job(watch_);
}

io::WatchOptions WatchedFolder::options() const {
  return {.root = watch_.input,
          .exclude = watch_.exclude,
          .links = watch_.links,
          .settle_time = std::chrono::milliseconds(watch_.settle_ms),
          .retry_timeout = std::chrono::seconds(watch_.retry_timeout_s),
          .rescan_interval = std::chrono::seconds(watch_.rescan_s),
          .poll_interval = std::chrono::seconds(watch_.poll_s)};
}

/// Returns the prepared job. Replaces it if its folder was moved.
std::shared_ptr<Job> WatchedFolder::job() {
  const std::lock_guard lock(mutex_);
  if (job_) {
    try {
      job_->check_in_place();
      return job_;
    } catch (const EnvironmentError& error) {
      spdlog::warn("{}", text::printable_message(error.what()));
      job_.reset();  // threads that use it share its ownership
    }
  }
  output_mount_.check();
  try {
    JobRequest request = job_request(watch_);
    request.is_quarantined = [this](const fs::path& input) {
      const fs::path relative = input.lexically_relative(watch_.input);
      return io::stays_within(relative) && quarantine_.has_file(relative);
    };
    auto job = std::make_shared<Job>(std::move(request));
    job->prepare();
    job_ = std::move(job);
  } catch (const FatalError& error) {
    throw EnvironmentError(error.what());
  }
  output_mount_.record_device();
  disposal_.record_move_to();
  return job_;
}

bool WatchedFolder::needs_processing(const io::SourceItem& arrival, const files::FileState& state) {
  try {
    return must_process(arrival, state);
  } catch (const EnvironmentError& error) {
    figures_.set_last_remedy(error.remedy());
    throw;
  }
}

bool WatchedFolder::must_process(const io::SourceItem& arrival, const files::FileState& state) {
  if (!retry_backoff_.is_due(arrival.file, state, Clock::now())) return false;
  const std::shared_ptr<Job> job = this->job();
  disposal_.check_move_to();
  pipeline::WorkItem item;
  item.file = arrival.file;
  item.relative = arrival.relative;
  item.file_state = state;
  if (is_held(item)) return false;  // a later scan checks again
  try {
    if (watch_.keeps_inputs() && job->is_done(item))
      return false;  // a done input is still to be removed
    // A failed input that was kept is tried again if its quarantine record was removed.
    return !job->has_failed(item) || !quarantine_.has_kept_record(item.relative);
  } catch (const FatalError& error) {  // for example, another process locked its ledger
    throw EnvironmentError(error.what());
  }
}

/// Returns whether the input must wait because the service stalled on it repeatedly.
bool WatchedFolder::is_held(const pipeline::WorkItem& item) {
  const auto now = std::chrono::system_clock::now();
  const auto hold = stall_record_.find_hold(item.relative, item.file_state, now);
  if (!hold || !hold->is_first) return hold.has_value();
  const auto minutes = std::chrono::ceil<std::chrono::minutes>(hold->until - now).count();
  spdlog::warn("{}: the service stalled on this input before; next attempt in {} min",
               text::printable(item.file.native()), minutes);
  return true;
}

void WatchedFolder::record_stall(const pipeline::Activity::File& file) {
  stall_record_.add(file.relative, file.state, std::chrono::system_clock::now());
}

void WatchedFolder::defer(pipeline::WorkItem& item, Stage stage, const EnvironmentError& error) {
  figures_.set_last_remedy(error.remedy());
  defer_item(item, stage, error.what());
}

/// Environment errors defer the item.
template <class Step>
void WatchedFolder::attempt_or_defer(pipeline::WorkItem& item, Stage stage, const Step& step) {
  try {
    const std::shared_ptr<Job> job = this->job();
    if (item.owner && item.owner != job)
      throw EnvironmentError(text::printable(watch_.output.native()) +
                             " was replaced during processing");
    item.owner = job;
    step(*job);
  } catch (const DeviceLostError&) {
    throw;
  } catch (const EnvironmentError& error) {
    defer(item, stage, error);
  } catch (const FatalError& error) {  // for example, another process locked its ledger
    defer(item, stage, EnvironmentError(error.what()));
  }
}

void WatchedFolder::assign_outputs(pipeline::WorkItem& item) {
  attempt_or_defer(item, Stage::source, [&](Job& job) { job.assign_outputs(item); });
}

void WatchedFolder::load(pipeline::WorkItem& item, pipeline::LoadContext& context) {
  attempt_or_defer(item, Stage::load, [&](Job& job) { job.load(item, context); });
}

void WatchedFolder::write(pipeline::WorkItem& item) {
  attempt_or_defer(item, Stage::write, [&](Job& job) { job.write(item); });
}

/// Defers items whose file may be incomplete, and items that failed for other reasons than their
/// file.
void WatchedFolder::defer_if_transient(pipeline::WorkItem& item) {
  Outcome& outcome = item.outcome;
  if (outcome.result != ItemResult::failed) return;
  if (outcome.reason == FailureReason::not_written &&
      !can_write_in(item.outputs.front().parent_path()))
    return defer(item, outcome.stage, EnvironmentError(outcome.detail));
  // The file was removed, so there is nothing to process.
  if (outcome.reason == FailureReason::not_found) {
    outcome = Outcome::incomplete(outcome.stage, outcome.reason, outcome.detail);
    return;
  }
  // An unreadable file may be valid, so it is not quarantined.
  const bool is_final = item.is_last_attempt && outcome.reason != FailureReason::unreadable;
  if (is_final || !is_transient(outcome.reason)) return;
  outcome = Outcome::incomplete(outcome.stage, outcome.reason, outcome.detail);
  if (item.is_last_attempt) return retry_backoff_.warn_once(item.file, outcome.detail);
  // The first attempt at a file that is being written often fails, and is no news.
  spdlog::log(item.attempt == 2 ? spdlog::level::info : spdlog::level::debug,
              "{}: {}; the file may be incomplete and is retried for {} s",
              text::printable(item.file.native()), text::printable_message(outcome.detail),
              watch_.retry_timeout_s);
}

void WatchedFolder::publish(std::span<pipeline::ItemPtr> group) {
  for (const pipeline::ItemPtr& item : group) {
    if (item->state() < pipeline::ItemState::published) defer_if_transient(*item);
  }
  try {
    const std::shared_ptr<Job> job = this->job();
    const auto others =
        std::stable_partition(group.begin(), group.end(),
                              [&](const pipeline::ItemPtr& item) { return item->owner == job; });
    for (auto item = others; item != group.end(); ++item) {
      if (!(*item)->outcome.will_be_retried())
        defer(**item, Stage::write,
              EnvironmentError(text::printable(watch_.output.native()) +
                               " was replaced during processing"));
    }
    publish(std::span<pipeline::ItemPtr>(group.begin(), others), *job);
  } catch (const DeviceLostError&) {
    throw;
  } catch (const std::logic_error&) {  // a bug, which would repeat without end
    throw;
  } catch (const std::exception& error) {
    const auto* environment = dynamic_cast<const EnvironmentError*>(&error);
    for (const pipeline::ItemPtr& item : group) {
      if (item->state() >= pipeline::ItemState::recorded) continue;
      defer(*item, Stage::write, environment ? *environment : EnvironmentError(error.what()));
    }
  }
  for (const pipeline::ItemPtr& item : group) {  // deferred items have nothing to record
    if (item->outcome.will_be_retried() && item->state() < pipeline::ItemState::recorded)
      item->advance(pipeline::ItemState::recorded);
  }
}

/// Removes the inputs whose outputs are recorded, even if other outputs of the group could not be
/// published.
void WatchedFolder::publish(std::span<pipeline::ItemPtr> group, Job& job) {
  const auto remove_inputs = [&] {
    std::vector<pipeline::WorkItem*> removed;
    for (const pipeline::ItemPtr& item : group) {
      if (item->state() < pipeline::ItemState::recorded) continue;
      defer_if_transient(*item);
      if (item->outcome.will_be_retried()) continue;
      stall_record_.forget(item->relative);
      switch (dispose_of(*item)) {
        case InputDisposal::Result::kept:
          break;
        case InputDisposal::Result::removed:
        case InputDisposal::Result::replaced:  // a file with that name is another input
          removed.push_back(item.get());
          break;
        case InputDisposal::Result::quarantined:
          maintenance_.on_quarantined();
          break;
      }
    }
    job.record_removed_inputs(removed);
  };
  try {
    job.publish(group);
  } catch (const EnvironmentError&) {
    remove_inputs();
    throw;
  }
  remove_inputs();
}

/// Defers the item after an environment error.
InputDisposal::Result WatchedFolder::dispose_of(pipeline::WorkItem& item) {
  try {
    InputDisposal::Disposal disposal = disposal_.dispose_of(item);
    item.disposal = std::move(disposal.message);
    return disposal.result;
  } catch (const EnvironmentError& error) {
    defer(item, Stage::write, error);
    return InputDisposal::Result::kept;
  }
}

bool WatchedFolder::has_output() const {
  const std::lock_guard lock(mutex_);
  return job_ != nullptr;
}

void WatchedFolder::lock_known_output() {
  struct stat status {};
  const fs::path state = watch_.output / files::kStateFolder;
  if (::stat(state.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return;
  try {
    job();
    is_lock_failure_logged_ = false;
  } catch (const EnvironmentError& error) {
    if (std::exchange(is_lock_failure_logged_, true)) return;
    spdlog::warn("{}; files for this output folder wait", text::printable_message(error.what()));
  }
}

/// Whether the input folder is the one of the start. Otherwise it may be the place of an unmounted
/// disk, and no input was removed.
bool WatchedFolder::has_inputs() {
  struct stat status {};
  if (::stat(watch_.input.c_str(), &status) != 0) return false;
  const io::FileId id{status.st_dev, status.st_ino};
  if (!input_id_) input_id_ = id;
  return *input_id_ == id;
}

void WatchedFolder::maintain(const std::stop_token& stop, Instant now) {
  std::shared_ptr<Job> job;
  {
    const std::lock_guard lock(mutex_);
    job = job_;
  }
  if (!job) lock_known_output();
  if (!output_mount_.is_mounted()) return figures_.forget_free_bytes();
  if (job) maintenance_.run(*job, stop, has_inputs(), now);
  figures_.update_free_bytes(watch_.output);
}

void WatchedFolder::record_suspects(const pipeline::InFlightBatches::Items& items) {
  job()->record_suspects(items);
}

void record_suspects(std::span<const std::unique_ptr<WatchedFolder>> folders,
                     const pipeline::InFlightBatches::Items& items) {
  std::map<int, pipeline::InFlightBatches::Items> by_watch;
  for (const pipeline::WorkItem* item : items) by_watch[item->job].push_back(item);
  std::exception_ptr first_error;
  for (const auto& [watch, lost] : by_watch) {
    try {
      folders[std::size_t(watch)]->record_suspects(lost);
    } catch (...) {
      if (!first_error) first_error = std::current_exception();
    }
  }
  if (first_error) std::rethrow_exception(first_error);
}

io::FinishStatus WatchedFolder::end(const pipeline::WorkItem& item) {
  if (!item.disposal.empty()) {
    const logging::LogFields fields(
        {{"ECKART_WATCH", watch_.name}, {"ECKART_FILE", item.file.native()}});
    spdlog::info("{}", item.disposal);
  }
  if (item.owner) item.owner->release_outputs(item);
  figures_.count(item.outcome.result);
  switch (item.outcome.result) {
    case ItemResult::incomplete:
      return io::FinishStatus::incomplete;
    case ItemResult::deferred:
      return io::FinishStatus::environment_error;
    case ItemResult::done:
    case ItemResult::skipped:
    case ItemResult::failed:
      break;
  }
  return io::FinishStatus::done;
}

}  // namespace eckart::app
