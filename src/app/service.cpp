#include "app/service.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "app/backend_health.hpp"
#include "app/pipeline_options.hpp"
#include "app/requeue.hpp"
#include "app/settings_mismatch.hpp"
#include "app/watch_conflicts.hpp"
#include "app/watch_status.hpp"
#include "app/watch_warnings.hpp"
#include "core/error.hpp"
#include "logging/log.hpp"
#include "machine/unix_time.hpp"
#include "text/printable.hpp"

namespace eckart::app {
namespace {

using settings::WatchSettings;

std::vector<WatchSettings> checked_watches(const settings::Configuration& configuration) {
  std::vector<WatchSettings> watches = settings::resolve_watches(configuration);
  if (watches.empty())
    throw FatalError(
        ExitCode::configuration,
        "no watches are configured; give eckart watch FOLDER -o FOLDER, or add `watches` "
        "to the file of --config");
  if (configuration.settings.output.pack != settings::OutputPack::none)
    throw FatalError(ExitCode::configuration,
                     "output.pack tar is for eckart run --shard: a watch writes files");
  check_watch_conflicts(watches);
  return watches;
}

constexpr int kMaintenanceTimeoutFactor = 10;  // a large quarantine takes longer

/// Few files wait to be loaded, so that files of another watch are loaded soon.
pipeline::PipelineOptions service_pipeline_options(const settings::Settings& settings,
                                                   const std::vector<WatchSettings>& watches) {
  pipeline::PipelineOptions options = pipeline_options(settings);
  for (const WatchSettings& watch : watches) {
    const std::chrono::seconds decode(watch.settings.limits.decode_s);
    options.limits.decode = std::max(options.limits.decode, decode);
  }
  options.found_queue_capacity = std::size_t(options.load_threads) * 2;
  options.wait_for_space = false;  // an item is deferred if the disk is full
  return options;
}

void log_watch_line(io::Severity severity, const std::string& line) {
  switch (severity) {
    case io::Severity::debug:
      return spdlog::debug("{}", text::printable_message(line));
    case io::Severity::info:
      return spdlog::info("{}", text::printable_message(line));
    case io::Severity::warning:
      return spdlog::warn("{}", text::printable_message(line));
  }
}

}  // namespace

std::vector<std::string> check_configuration(const settings::Configuration& configuration) {
  std::vector<std::string> warnings;
  for (const WatchSettings& watch : checked_watches(configuration)) {
    const WatchedFolder checked(watch);
    for (std::string& warning : watch_warnings(watch)) warnings.push_back(std::move(warning));
    if (std::string warning = ledger_warning(watch); !warning.empty())
      warnings.push_back(std::move(warning));
  }
  return warnings;
}

Service::Service(const settings::Configuration& configuration, double last_done_unix_s)
    : configuration_(configuration),
      calibration_(settings::load_calibration(configuration.settings.calibration)),
      previous_last_done_unix_s_(last_done_unix_s) {
  const std::vector<WatchSettings> watches = checked_watches(configuration_);
  std::vector<io::WatchSource::Watch> sources;
  std::vector<std::string> names;
  std::vector<io::OwnFolders> own_folders = own_folders_of(watches);
  for (std::size_t i = 0; i < watches.size(); ++i) {
    const WatchSettings& watch = watches[i];
    inputs_.push_back(watch.input);
    outputs_.push_back(watch.output);
    names.push_back(watch.name);
    spdlog::info("watch {}: input folder {}, output folder {}", text::printable(watch.name),
                 text::printable(watch.input.native()), text::printable(watch.output.native()));
    WatchedFolder& folder = *folders_.emplace_back(std::make_unique<WatchedFolder>(watch));
    io::WatchOptions options = folder.options();
    options.own_folders = std::move(own_folders[i]);
    sources.push_back({std::move(options),
                       [&folder](const io::SourceItem& arrival, const files::FileState& state) {
                         return folder.needs_processing(arrival, state);
                       }});
  }
  source_ = std::make_unique<io::WatchSource>(
      std::move(sources),
      [names = std::move(names)](int watch, io::Severity severity, const std::string& line) {
        const logging::LogFields fields({{"ECKART_WATCH", names[std::size_t(watch)]}});
        log_watch_line(severity, line);
      });
  pipeline_ = std::make_unique<pipeline::Pipeline>(
      *source_, static_cast<pipeline::JobSteps&>(*this),
      service_pipeline_options(configuration_.settings, watches));
  monitor_ = std::make_unique<Monitor>(
      configuration_.settings, "watch",
      Monitor::Providers{[this] { return snapshot(); }, [this] { return state(); }});
}

telemetry::RunReport Service::execute(const std::function<void()>& ready) {
  ready_ = ready;
  monitor_->begin(true);
  telemetry::RunReport report = pipeline_->run();
  // First, so that the status page reports a source thread that hangs.
  source_->end();
  monitor_->end();
  {
    const std::lock_guard lock(error_mutex_);
    if (error_) std::rethrow_exception(error_);
  }
  report.backend_reason = backend_.selection_reason;
  return report;
}

compute::Backend& Service::create_backend() {
  const pipeline::Activity::Scope step(
      activity(),
      {"backend start",
       std::max<std::chrono::seconds>(
           std::chrono::seconds(configuration_.settings.timeouts.stall_s), kMaxBackendStart)});
  backend_ = make_backend(configuration_.settings, calibration_);
  record_heartbeat();
  has_backend_ = true;
  if (ready_) ready_();
  return *backend_.backend;
}

void Service::maintain_folders(const std::stop_token& stop) {
  const pipeline::Activity::Scope step(
      activity(), {.stage = "maintenance",
                   .max_duration = kMaintenanceTimeoutFactor *
                                   std::chrono::seconds(configuration_.settings.timeouts.stall_s),
                   .is_image_work = false});
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    // Not the marker of another process, which has the output folder.
    if (!folders_[i]->has_output() || !consume_requeue_marker(outputs_[i])) continue;
    source_->request_scan(int(i));
    folders_[i]->on_requeued();
  }
  for (const auto& folder : folders_) {
    if (stop.stop_requested()) return;
    folder->maintain(stop);
  }
}

std::string Service::inputs_text() const {
  return std::to_string(folders_.size()) + (folders_.size() == 1 ? " watch" : " watches");
}

std::string Service::status_line() const {
  const telemetry::ProgressState progress = pipeline_->progress();
  std::size_t waiting = 0, degraded = 0, missing = 0;
  for (const io::WatchState& state : source_->states()) {
    waiting += state.pending + state.ready;
    degraded += !state.backoff_reason.empty();
    missing += !state.is_root_present;
  }
  std::string line = std::to_string(progress.done - progress.failed - progress.skipped) +
                     " done, " + std::to_string(progress.failed) + " failed, " +
                     std::to_string(progress.total - progress.done) + " in progress, " +
                     std::to_string(waiting) + " waiting";
  const std::string of = " of " + std::to_string(folders_.size());
  if (missing > 0) line += "; " + std::to_string(missing) + of + " inputs missing";
  if (degraded > 0) line += "; " + std::to_string(degraded) + of + " watches degraded";
  return line;
}

std::string Service::status_text() const { return app::status_text(monitor_->current_status()); }

double Service::last_done_unix_s() const {
  return std::max(previous_last_done_unix_s_, monitor_->current_view().all.last_done_unix_s);
}

std::optional<pipeline::Activity::Stall> Service::find_stall() {
  if (auto stall = pipeline_->find_stall()) return stall;
  return find_stalled_watch();
}

/// Usually finds a network share that does not respond. As in Activity::check(), time in which the
/// process was stopped does not count.
std::optional<pipeline::Activity::Stall> Service::find_stalled_watch() {
  using namespace std::chrono;
  constexpr seconds kMaxCheckInterval{5};
  const auto states = source_->states();
  const std::lock_guard lock(watch_busy_times_mutex_);
  const Instant now = Clock::now();
  const auto tick =
      std::min<Clock::duration>(now - std::exchange(last_watch_check_, now), kMaxCheckInterval);
  watch_busy_times_.resize(states.size());
  for (std::size_t i = 0; i < states.size(); ++i) {
    WatchBusyTime& known = watch_busy_times_[i];
    const Instant since = states[i].busy_since.value_or(Instant::max());
    known.age = since == known.since ? known.age + tick : Clock::duration(0);
    known.since = since;
    if (since == Instant::max() || known.age <= seconds(configuration_.settings.timeouts.stall_s))
      continue;
    return pipeline::Activity::Stall{.stage = to_string(Stage::source),
                                     .files = {{.file = inputs_[i], .relative = {}, .job = int(i)}},
                                     .age = duration_cast<seconds>(known.age)};
  }
  return std::nullopt;
}

void Service::record_stall(const pipeline::Activity::Stall& stall) {
  for (const pipeline::Activity::File& file : stall.files) {
    if (!file.relative.empty()) folders_[std::size_t(file.job)]->record_stall(file);
  }
}

telemetry::Snapshot Service::snapshot() const {
  telemetry::Snapshot snapshot = pipeline_->snapshot();
  snapshot.not_read = source_->unread_files().by_extension();
  return snapshot;
}

status_server::ServiceState Service::state() {
  using namespace std::chrono;
  status_server::ServiceState state;
  state.last_done_unix_s = previous_last_done_unix_s_;
  if (!has_backend_) state.not_ready_reasons.emplace_back("starting");
  const auto states = source_->states();
  for (std::size_t i = 0; i < states.size(); ++i) {
    const io::WatchState& watch = states[i];
    const status_server::WatchStatus& status =
        state.watches.emplace_back(watch_status(*folders_[i], watch));
    if (!status.reason.empty())
      state.not_ready_reasons.push_back(text::printable(status.input) + ": " +
                                        text::printable_message(status.reason));
    state.degraded_watches += !status.reason.empty() || watch.is_polling;
    state.overflows += watch.overflows;
    if (!watch.oldest_arrival) continue;
    const duration<double> age = Clock::now() - *watch.oldest_arrival;
    const double came_unix_s = machine::unix_now_s() - age.count();
    if (state.oldest_waiting_unix_s == 0 || came_unix_s < state.oldest_waiting_unix_s)
      state.oldest_waiting_unix_s = came_unix_s;
  }
  add_backend_health(state, find_stall(),
                     has_backend_ ? std::optional(last_heartbeat_.load()) : std::nullopt);
  return state;
}

void Service::stop_with_error(std::exception_ptr error) {
  {
    const std::lock_guard lock(error_mutex_);
    error_ = std::move(error);
  }
  request_stop();
}

/// Each watch publishes its own items.
void Service::publish(std::span<pipeline::ItemPtr> group) {
  std::stable_sort(
      group.begin(), group.end(),
      [](const pipeline::ItemPtr& a, const pipeline::ItemPtr& b) { return a->job < b->job; });
  for (std::size_t begin = 0, end = 0; begin < group.size(); begin = end) {
    while (end < group.size() && group[end]->job == group[begin]->job) ++end;
    folder_of(*group[begin]).publish(group.subspan(begin, end - begin));
  }
}

void Service::finish(const pipeline::WorkItem& item) {
  const io::FinishStatus ending = folder_of(item).end(item);
  source_->finish(item.job, item.relative, ending, item.outcome.detail);
}

void Service::on_device_lost(const pipeline::InFlightBatches::Items& items) {
  record_suspects(folders_, items);
}

}  // namespace eckart::app
