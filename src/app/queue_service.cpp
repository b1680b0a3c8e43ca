#include "app/queue_service.hpp"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <system_error>
#include <utility>

#include "app/backend_health.hpp"
#include "app/pipeline_options.hpp"
#include "app/work_list.hpp"
#include "core/error.hpp"
#include "files/entry_exists.hpp"
#include "io/open_archive.hpp"
#include "io/process_token.hpp"
#include "io/publication.hpp"
#include "machine/machine_info.hpp"
#include "text/group_digits.hpp"
#include "text/printable.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;

QueueServiceRequest with_ledger(QueueServiceRequest request, const WorkerLedger& ledger) {
  request.settings.ledger = ledger.choice();
  if (request.settings.telemetry.throughput_log.empty())
    request.settings.telemetry.throughput_log = ledger.published_prefix() + ".throughput.jsonl";
  return request;
}

JobRequest job_request(const QueueServiceRequest& request) {
  return {.settings = request.settings,
          .inputs = {},
          .files_from = {},
          .output = request.output,
          .inputs_may_return = true,
          .syncs_results = true,
          .shares_output = true};
}

pipeline::PipelineOptions queue_pipeline_options(const settings::Settings& settings) {
  pipeline::PipelineOptions options = pipeline_options(settings);
  options.found_queue_capacity = std::size_t(options.load_threads) * 2;
  options.wait_for_space = false;  // an item is deferred if the disk is full
  return options;
}

/// How many images the budget has room for, at most.
std::int64_t max_images(const pipeline::PipelineOptions& options) {
  constexpr std::size_t kImageBytes = std::size_t(16) << 20;  // a photograph, with its outputs
  constexpr std::int64_t kMin = 32, kMax = 4096;
  return std::clamp(std::int64_t(options.budget_bytes / kImageBytes), kMin, kMax);
}

/// Logs changes of the connection, but not each failed attempt.
class ConnectionLog {
 public:
  void operator()(const std::string& broker, const std::string& error) {
    if (broker == last_broker_ && error == last_error_) return;
    last_broker_ = broker;
    last_error_ = error;
    if (error.empty()) return spdlog::info("connected to {}", broker);
    spdlog::warn("{}; connecting again", text::printable_message(error));
  }

 private:
  std::string last_broker_, last_error_;
};

broker::ConsumerOptions consumer_options(const QueueServiceRequest& request) {
  return {.connection = request.connection,
          .queue = request.queue,
          .name = machine::machine_info().host + ":" + std::to_string(::getpid()) + ":" +
                  io::process_token().substr(0, 4),
          .on_change = ConnectionLog()};
}

status_server::QueueState queue_state(const std::string& name,
                                      const broker::ConsumerState& consumer) {
  const auto ready = [](const std::optional<broker::QueueDepth>& depth) {
    return depth ? depth->ready : 0;
  };
  return {.name = name,
          .is_connected = consumer.is_connected,
          .waiting = ready(consumer.queue),
          .dead_letters = ready(consumer.dead_letters),
          .in_flight = consumer.in_flight,
          .acknowledged = consumer.acknowledged,
          .rejected = consumer.rejected,
          .reconnects = consumer.reconnects};
}

/// Whether the folder of a file exists, or the archive that it is in.
bool has_folder(const fs::path& file) {
  const auto member = io::parse_member_path(file);
  return files::entry_exists(member ? member->archive : file.parent_path());
}

/// An input that is missing together with its folder is on a file system that is not mounted here.
/// One that exists now was on one that is mounted meanwhile.
bool was_folder_missing(const pipeline::WorkItem& item) {
  std::error_code none;
  return item.outcome.result == ItemResult::failed &&
         item.outcome.reason == FailureReason::not_found &&
         (!has_folder(item.file) || fs::exists(item.file, none));
}

void defer(pipeline::WorkItem& item, Stage stage, const std::string& why) {
  item.outcome = Outcome::deferred(stage, why);
  item.publication.clear();
}

/// Environment errors defer the item.
template <class Step>
void attempt_or_defer(pipeline::WorkItem& item, Stage stage, const Step& step) {
  try {
    step();
  } catch (const EnvironmentError& error) {
    defer(item, stage, error.what());
  }
}

}  // namespace

QueueService::QueueService(QueueServiceRequest request, double last_done_unix_s)
    : calibration_(settings::load_calibration(request.settings.calibration)),
      previous_last_done_unix_s_(last_done_unix_s),
      ledger_(request.output, request.state),
      request_(with_ledger(std::move(request), ledger_)),
      job_(job_request(request_)) {
  spdlog::info("queue {} of {}, output folder {}", text::printable(request_.queue.name),
               broker::to_string(request_.connection.address),
               text::printable(request_.output.native()));
  job_.prepare();
  ledger_.begin();
  const pipeline::PipelineOptions options = queue_pipeline_options(request_.settings);
  source_ = std::make_unique<QueueSource>(
      QueueSourceOptions{.consumer = consumer_options(request_),
                         .settings_hash = work_settings_hash(request_.settings),
                         .max_images = max_images(options),
                         .has_recovered = [this] { return can_write(); }});
  pipeline_ = std::make_unique<pipeline::Pipeline>(
      *source_, static_cast<pipeline::JobSteps&>(*this), options);
  monitor_ = std::make_unique<Monitor>(
      request_.settings, "worker",
      Monitor::Providers{[this] { return pipeline_->snapshot(); }, [this] { return state(); }});
}

telemetry::RunReport QueueService::execute(const std::function<void()>& ready) {
  ready_ = ready;
  monitor_->begin(true);
  telemetry::RunReport report = pipeline_->run();
  source_->end();
  monitor_->end();
  ledger_.publish();
  {
    const std::lock_guard lock(error_mutex_);
    if (error_) std::rethrow_exception(error_);
  }
  report.backend_reason = backend_.selection_reason;
  return report;
}

compute::Backend& QueueService::create_backend() {
  const pipeline::Activity::Scope step(
      activity(), {"backend start", std::max<std::chrono::seconds>(
                                        std::chrono::seconds(request_.settings.timeouts.stall_s),
                                        kMaxBackendStart)});
  backend_ = make_backend(request_.settings, calibration_);
  record_heartbeat();
  has_backend_ = true;
  if (ready_) ready_();
  return *backend_.backend;
}

void QueueService::stop_with_error(std::exception_ptr error) {
  {
    const std::lock_guard lock(error_mutex_);
    error_ = std::move(error);
  }
  request_stop();
}

void QueueService::assign_outputs(pipeline::WorkItem& item) {
  attempt_or_defer(item, Stage::source, [&] { job_.assign_outputs(item); });
}

void QueueService::load(pipeline::WorkItem& item, pipeline::LoadContext& context) {
  attempt_or_defer(item, Stage::load, [&] { job_.load(item, context); });
}

void QueueService::write(pipeline::WorkItem& item) {
  attempt_or_defer(item, Stage::write, [&] {
    job_.check_in_place();
    job_.write(item);
  });
}

void QueueService::publish(std::span<pipeline::ItemPtr> group) {
  for (const pipeline::ItemPtr& item : group) {
    if (item->state() < pipeline::ItemState::published && was_folder_missing(*item))
      defer(*item, item->outcome.stage,
            "folder " + text::printable(item->file.parent_path().native()) +
                " does not exist on this machine");
  }
  try {
    job_.check_in_place();
    job_.publish(group);
  } catch (const EnvironmentError& error) {
    for (const pipeline::ItemPtr& item : group)
      if (item->state() < pipeline::ItemState::recorded) defer(*item, Stage::write, error.what());
  }
  for (const pipeline::ItemPtr& item : group) {  // deferred items have nothing to record
    if (item->outcome.will_be_retried() && item->state() < pipeline::ItemState::recorded)
      item->advance(pipeline::ItemState::recorded);
  }
}

/// Whether files can be written to the output folder, and to that of the ledger.
bool QueueService::can_write() const try {
  job_.check_in_place();
  return io::can_write_files(request_.output) && io::can_write_files(request_.state);
} catch (const EnvironmentError&) {
  return false;
}

void QueueService::finish(const pipeline::WorkItem& item) {
  job_.release_outputs(item);
  QueueSource::Ending ending = QueueSource::Ending::finished;
  if (item.outcome.will_be_retried())
    ending =
        has_folder(item.file) ? QueueSource::Ending::retried : QueueSource::Ending::unavailable;
  source_->finish(item.relative, ending, item.outcome.detail);
}

std::string QueueService::inputs_text() const {
  return "queue " + text::printable(request_.queue.name);
}

std::string QueueService::status_line() const {
  const telemetry::ProgressState progress = pipeline_->progress();
  const broker::ConsumerState queue = source_->consumer_state();
  std::string line = std::to_string(progress.done - progress.failed - progress.skipped) +
                     " done, " + std::to_string(progress.failed) + " failed, " +
                     std::to_string(progress.total - progress.done) + " in progress";
  if (queue.queue) line += ", " + std::to_string(queue.queue->ready) + " messages waiting";
  return queue.is_connected ? line : line + "; not connected to the broker";
}

std::string QueueService::status_text() const {
  return app::status_text(monitor_->current_status());
}

double QueueService::last_done_unix_s() const {
  return std::max(previous_last_done_unix_s_, monitor_->current_view().all.last_done_unix_s);
}

status_server::ServiceState QueueService::state() const {
  status_server::ServiceState state;
  state.last_done_unix_s = previous_last_done_unix_s_;
  if (!has_backend_) state.not_ready_reasons.emplace_back("starting");
  const broker::ConsumerState queue = source_->consumer_state();
  state.queue = queue_state(request_.queue.name, queue);
  if (!queue.is_connected)
    state.not_ready_reasons.push_back(queue.error.empty() ? "connecting to the broker"
                                                          : text::printable_message(queue.error));
  if (const std::string reason = source_->pause_reason(); !reason.empty())
    state.not_ready_reasons.push_back(text::printable_message(reason));
  add_backend_health(state, pipeline_->find_stall(),
                     has_backend_ ? std::optional(last_heartbeat_.load()) : std::nullopt);
  return state;
}

}  // namespace eckart::app
