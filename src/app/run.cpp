#include "app/run.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "app/options.hpp"
#include "app/stall_watch.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"
#include "flow/pause.hpp"
#include "pipeline/attempt.hpp"
#include "pipeline/output_quality.hpp"
#include "telemetry/snapshot_text.hpp"

namespace eckart::app {
namespace {

std::unique_ptr<io::Source> make_sources(const RunRequest& request) {
  std::vector<std::unique_ptr<io::Source>> sources;
  for (const auto& input : request.inputs) sources.push_back(io::make_source(input));
  if (!request.files_from.empty())
    sources.push_back(io::make_list_source(request.files_from, request.output));
  return io::chain(std::move(sources));
}

JobRequest job_request(const RunRequest& request) {
  return {.settings = request.settings,
          .inputs = request.inputs,
          .files_from = request.files_from,
          .output = request.output,
          .overwrite = request.overwrite,
          .on_change = request.on_change,
          .restarts = request.restarts,
          .number = request.number};
}

}  // namespace

Run::Run(RunRequest request, std::chrono::steady_clock::time_point start)
    : request_(std::move(request)),
      start_(start),
      calibration_(settings::load_calibration(request_.settings.calibration)),
      job_(job_request(request_)),
      source_(make_sources(request_)) {
  const auto make_backend_now = [this]() -> Backend& {
    backend_ = make_backend(request_.settings, calibration_, trace_.has_value());
    if (request_.restarts > 0 && backend_.backend->name() == "cpu")
      spdlog::warn("without the GPU that was lost: the CPU does the rest");
    return *backend_.backend;
  };
  pipeline_ = std::make_unique<Pipeline>(
      PipelineParts{
          .source = *source_,
          .backend = make_backend_now,
          .claim = [this](WorkItem& item) { job_.claim(item); },
          .load = [this](WorkItem& item, const Reserve& reserve) { job_.load(item, reserve); },
          .write = [this](WorkItem& item) { job_.write(item); },
          .publish = [this](std::span<ItemPtr> group) { job_.publish(group); },
          .report =
              [this](const WorkItem& item) {
                if (report_) add_to(*report_, item);
              },
          .on_lost = [this](const InFlight::Items& items) { job_.record_lost(items); }},
      pipeline_options(request_.settings));
  monitor_ = std::make_unique<Monitor>(
      request_.settings, "run",
      Monitor::Subject{[this] { return pipeline_->snapshot(); }, [this] { return state(); }});
  if (request_.count_ahead && can_list_again()) count_.emplace(make_sources(request_));
}

/// Does what makes files, where that is wished as soon as there is space for them.
void Run::when_there_is_space(const std::function<void()>& make_files) {
  for (bool told = false;; told = true) {
    try {
      return make_files();
    } catch (const EnvironmentError& error) {
      const bool waits =
          request_.settings.wait_for_space && error.wants() == EnvironmentError::Wants::space;
      if (waits && !told) spdlog::warn("{}: waiting for space", printable_message(error.what()));
      if (!waits || !flow::pause(std::chrono::seconds(1), stop_.get_token())) throw;
    }
  }
}

telemetry::RunReport Run::execute() {
  when_there_is_space([&] { job_.prepare(); });
  when_there_is_space([&] {
    if (!request_.report.empty()) report_.emplace(request_.report);
  });
  when_there_is_space([&] {
    if (!request_.trace.empty()) trace_.emplace(request_.trace, request_.restarts);
  });
  monitor_->begin(false);  // the images are wanted all the same
  std::optional<StallWatch> stalls(
      std::in_place, [this] { return pipeline_->find_stall(); },
      StallWatch::Listener{
          [](const Activity::Stall& stall) {
            spdlog::warn(
                "{}: a disk or share may not answer; what is not done yet is done by the "
                "same command, when this one was ended",
                to_string(stall));
          },
          [](const Activity::Stall& stall) { spdlog::warn("{} goes on", stall.stage); }});
  telemetry::RunReport report = pipeline_->run(trace_ ? &*trace_ : nullptr);
  stalls.reset();
  monitor_->end();
  if (trace_) trace_->close();
  const telemetry::Snapshot seen = monitor_->view().all;
  report.machine = seen.machine;
  report.pipeline_s = seen.elapsed_s;
  if (!report.stopped_by.empty())
    spdlog::error("{}: stopped; {} does the rest", printable_message(report.stopped_by),
                  job_.is_in_place() ? "the same command" : "a run into it, wherever it is,");
  report.backend_note += "; " + backend_.reason;
  if (job_.codec().name == "jpeg" && report.outputs > 0)
    report.remarks.emplace_back("PSNR is that of the reconstructions; the files lose more by JPEG");
  if (request_.restarts > 0)
    report.remarks.push_back("the GPU was lost " + std::to_string(request_.restarts) +
                             (request_.restarts == 1 ? " time" : " times") +
                             "; what was done before is counted as skipped");
  report.cpu_s = telemetry::process_use().cpu_s;
  report.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  return report;
}

telemetry::ServiceState Run::state() const {
  telemetry::ServiceState state;
  state.restarts = request_.restarts;
  if (const auto stall = pipeline_->find_stall()) state.unhealthy.push_back(to_string(*stall));
  if (!pipeline_->backend()) state.not_ready.emplace_back("it is starting");
  return state;
}

void Run::request_stop() {
  stop_.request_stop();
  pipeline_->request_stop();
}

/// A pipe's lines come once.
bool Run::can_list_again() const {
  std::error_code none;
  return request_.files_from.empty() ||
         (request_.files_from != "-" &&
          std::filesystem::is_regular_file(request_.files_from, none));
}

void Run::close_report() {
  if (report_) report_->close();
}

telemetry::ProgressState Run::progress() const {
  telemetry::ProgressState progress = pipeline_->progress();
  const std::optional<std::int64_t> total = count_ ? count_->total() : std::nullopt;
  if (total && !progress.total_is_final) {
    progress.total = std::max(progress.total, *total);
    progress.total_is_final = true;
  }
  progress.bottleneck = telemetry::short_bottleneck(monitor_->view().recent);
  return progress;
}

/// Gives the item its outcome, as far as its outputs' places tell.
std::vector<OutputPlace> Run::look_at_places(WorkItem& item) {
  using Kind = OutputPlace::Kind;
  std::vector<OutputPlace> places;
  if (!item.outcome.ok()) return places;
  attempt(item.outcome, Stage::load, Reason::internal, [&] { job_.check_done(item); });
  const bool in_the_way = item.outcome.reason == Reason::output_collision;
  if (item.outcome.result == Result::failed && !in_the_way) return places;
  for (std::size_t i = 0; i < item.outputs.size(); ++i) {
    places.push_back(job_.place_of(item, i));
    const bool is_taken = places.back().kind == Kind::unknown || places.back().kind == Kind::taken;
    if (item.outcome.ok() && is_taken)
      item.outcome = Outcome::failed(Stage::write, Reason::output_collision, places.back().why);
  }
  return places;
}

telemetry::RunReport Run::dry_run(const Tell& tell) {
  telemetry::RunReport report;
  job_.look();
  const ClaimOutputs claim = [this](WorkItem& item) { job_.claim(item); };
  while (auto arrival = source_->next({})) {
    const ItemPtr item = take_in(std::move(*arrival), claim);
    const std::vector<OutputPlace> places = look_at_places(*item);
    const bool skipped = item->outcome.result == Result::skipped;
    ++(item->outcome.ok() ? report.done : skipped ? report.skipped : report.failed);
    if (item->outcome.result == Result::failed)
      ++report.failures[std::size_t(item->outcome.reason)];
    tell(*item, places);
  }
  report.ignored = source_->ignored();
  return report;
}

ExitCode exit_code(const telemetry::RunReport& report) {
  const auto failures = [&](Reason reason) { return report.failures[std::size_t(reason)]; };
  if (!report.stopped_by.empty() || failures(Reason::not_written) > 0) return ExitCode::io_error;
  if (report.done + report.skipped > 0)
    return report.failed > 0 ? ExitCode::some_failed : ExitCode::ok;
  if (report.failed > 0 && failures(Reason::not_found) == report.failed) return ExitCode::no_input;
  const auto unread = failures(Reason::not_found) + failures(Reason::unreadable) +
                      failures(Reason::empty_file) + failures(Reason::not_an_image) +
                      failures(Reason::unsupported) + failures(Reason::too_large) +
                      failures(Reason::corrupt);
  return unread == report.failed ? ExitCode::nothing_readable : ExitCode::some_failed;
}

}  // namespace eckart::app
