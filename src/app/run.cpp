#include "app/run.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "app/cpu_prediction.hpp"
#include "app/input_sources.hpp"
#include "app/output_settings.hpp"
#include "app/pipeline_options.hpp"
#include "app/stall_detector.hpp"
#include "core/error.hpp"
#include "io/parent_links.hpp"
#include "io/read_file.hpp"
#include "pipeline/attempt.hpp"
#include "pipeline/output_quality.hpp"
#include "pipeline/space_wait.hpp"
#include "reports/image_report.hpp"
#include "reports/snapshot_text.hpp"
#include "text/format_count.hpp"
#include "text/path_list.hpp"
#include "text/printable.hpp"

namespace eckart::app {
namespace {

constexpr std::chrono::milliseconds kSpacePollInterval{1000};
constexpr std::chrono::seconds kMinShownStep{1};  // steps that take longer appear in the progress

std::int64_t size_or_zero(const std::filesystem::path& file) {
  try {
    return io::state_of(file).size;
  } catch (const ItemError&) {
    return 0;
  }
}

std::unique_ptr<io::Source> sources_of(const RunRequest& request) {
  return make_sources({.inputs = request.inputs,
                       .files_from = request.files_from,
                       .files_from_separator = request.files_from_separator,
                       .shard = request.shard},
                      request.output);
}

/// The ledger and the reports have normal paths, without `..`.
RunRequest with_safe_paths(RunRequest request) {
  for (std::filesystem::path& input : request.inputs) input = io::resolve_parent_links(input);
  request.output = io::resolve_parent_links(request.output);
  return request;
}

JobRequest job_request(const RunRequest& request) {
  return {.settings = request.settings,
          .inputs = request.inputs,
          .files_from =
              request.shard && request.inputs.empty() ? request.shard->file : request.files_from,
          .output = request.output,
          .overwrite = request.overwrite,
          .on_change = request.on_change,
          .has_report = !request.report.empty(),
          .wants_spectra = request.measurements != nullptr && !request.without_spectra,
          .measures = request.measurements != nullptr,
          .shares_output = request.shard.has_value(),
          .restarts = request.restarts,
          .run_number = request.run_number};
}

/// Adds the result of the item to the report.
void add_to(reports::ImageReport& report, const pipeline::WorkItem& item) {
  const ItemResult result = item.outcome.result;
  const Outcome& outcome = item.outcome;
  if (result == ItemResult::failed)
    report.add_failure(item.file, outcome.reason, outcome.stage, outcome.detail);
  const bool is_done = result == ItemResult::done || item.is_partly_done;
  if (result != ItemResult::skipped && !is_done) return;
  for (std::size_t i = 0; i < item.outputs.size(); ++i) {
    if (item.is_output_kept(i)) {
      report.add_recorded(item.file, item.outputs[i], ItemResult::skipped,
                          *item.skipped_reports[i]);
    } else if (is_done && !item.is_output_skipped(i)) {
      report.add(item.file, item.outputs[i], pipeline::output_measurement(item, i));
    }
  }
}

/// Adds the measurements of a done item.
void add_to(reports::MeasurementSummary& summary, const pipeline::WorkItem& item) {
  if (item.outcome.result != ItemResult::done) return;
  for (std::size_t i = 0; i < item.outputs.size(); ++i)
    summary.add(pipeline::output_measurement(item, i));
  const compute::Task& task = item.task;
  if (!task.spectra.empty())
    summary.add_spectra(task.spectra, item.matrices_shape.samples(), task.peak);
}

void warn_of_output_folders(telemetry::RunReport& report, const io::Source& source) {
  constexpr std::size_t kMaxNamed = 3;
  const std::vector<std::filesystem::path> folders = source.output_folders();
  for (std::size_t i = 0; i < std::min(folders.size(), kMaxNamed); ++i)
    report.warnings.push_back(text::printable(folders[i].native()) +
                              " is an output folder of eckart; its images are inputs");
  if (folders.size() > kMaxNamed)
    report.warnings.push_back(
        "so are " + text::format_count(std::int64_t(folders.size() - kMaxNamed), "other folder"));
}

/// Returns whether a disk or network share may be the cause of the stall.
bool uses_files(const pipeline::Activity::Stall& stall) {
  return stall.kind == pipeline::Activity::StallKind::step_too_long &&
         stall.stage != to_string(Stage::batch) && stall.stage != to_string(Stage::compute);
}

}  // namespace

Run::Run(RunRequest request, Instant start)
    : request_(with_safe_paths(std::move(request))),
      start_(start),
      calibration_(settings::load_calibration(request_.settings.calibration)),
      job_(job_request(request_)),
      source_(sources_of(request_)),
      space_(request_.settings.wait_for_space, kSpacePollInterval, stop_.get_token()) {
  pipeline_ = std::make_unique<pipeline::Pipeline>(
      *source_, static_cast<pipeline::JobSteps&>(*this), pipeline_options(request_.settings));
  monitor_ = std::make_unique<Monitor>(
      request_.settings, "run",
      Monitor::Providers{[this] { return pipeline_->snapshot(); }, [this] { return state(); }});
  if (request_.count_inputs && can_relist_inputs()) input_counter_.emplace(sources_of(request_));
}

compute::Backend& Run::create_backend() {
  std::optional<CpuPrediction> cpu;
  if (request_.restarts == 0 && may_choose_by_time(request_.settings))
    cpu = predict_cpu_time(request_, calibration_.costs, kMinCpuSecondsForCuda);
  backend_ = make_backend(request_.settings, calibration_, trace_.has_value(), cpu);
  if (request_.restarts > 0 && backend_.kind == settings::BackendChoice::cpu)
    spdlog::warn("the lost GPU is not available; continuing on the CPU");
  return *backend_.backend;
}

void Run::finish(const pipeline::WorkItem& item) {
  if (report_) add_to(*report_, item);
  if (request_.measurements) add_to(*request_.measurements, item);
}

void Run::retry_until_space(const std::function<void()>& make_files) {
  pipeline::SpaceWait wait(space_);
  for (;;) {
    try {
      make_files();
      return wait.end();
    } catch (const EnvironmentError& error) {
      if (space_.should_wait(error)) monitor_->begin(false);
      wait.pause(error);
    }
  }
}

telemetry::RunReport Run::execute() {
  retry_until_space([this] { job_.prepare(); });
  retry_until_space([this] {
    if (!request_.report.empty()) report_.emplace(request_.report);
  });
  retry_until_space([this] {
    if (!request_.trace.empty()) trace_.emplace(request_.trace, request_.restarts);
  });
  monitor_->begin(false);  // the images are processed even without the status page
  std::optional<StallDetector> stall_detector(
      std::in_place, [this] { return pipeline_->find_stall(); },
      StallDetector::Listener{
          [](const pipeline::Activity::Stall& stall) {
            spdlog::warn("{}{}. Stop this run and start the same command again", to_string(stall),
                         uses_files(stall) ? ": a disk or network share may not respond" : "");
          },
          [](const pipeline::Activity::Stall& stall) {
            spdlog::warn("{} has resumed", stall.stage);
          }});
  telemetry::RunReport report = pipeline_->run(trace_ ? &*trace_ : nullptr);
  stall_detector.reset();
  monitor_->end();
  if (trace_) trace_->close();
  const telemetry::Snapshot last_snapshot = monitor_->last_view().all;
  report.machine = last_snapshot.machine;
  report.pipeline_s = last_snapshot.elapsed_s;
  if (!report.stopped_by.empty())
    spdlog::error(
        "{}: stopped. To finish, run {}", text::printable_message(report.stopped_by),
        job_.is_in_place() ? "the same command" : "the same command on the moved output folder");
  report.backend_reason = backend_.selection_reason;
  warn_of_output_folders(report, *source_);
  const bool measures_files = request_.settings.quality.measure != settings::MeasureChoice::fast;
  const settings::OutputSettings& output = request_.settings.output;
  if (is_lossy(output.format, encode_options(output)) && !measures_files && report.outputs > 0)
    report.warnings.emplace_back("PSNR is that of the reconstructions; " +
                                 to_string(output.format) + " compression adds further loss");
  if (request_.restarts > 0)
    report.warnings.push_back("the GPU was lost " + text::format_count(request_.restarts, "time") +
                              "; images done before count as skipped");
  report.cpu_s = machine::process_usage().cpu_s;
  report.wall_s = std::chrono::duration<double>(Clock::now() - start_).count();
  return report;
}

status_server::ServiceState Run::state() const {
  status_server::ServiceState state;
  state.restarts = request_.restarts;
  if (const auto stall = pipeline_->find_stall()) {
    state.unhealthy_reasons.push_back(to_string(*stall));
    state.not_ready_reasons.push_back(to_string(*stall));
  }
  for (const std::string& reason : {space_.reason(), pipeline_->missing_space()}) {
    if (!reason.empty())
      state.not_ready_reasons.push_back("waiting for free disk space: " + reason);
  }
  if (!pipeline_->backend()) state.not_ready_reasons.emplace_back("starting");
  return state;
}

void Run::request_stop() {
  stop_.request_stop();
  pipeline_->request_stop();
}

/// A pipe can be read only once.
bool Run::can_relist_inputs() const {
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
  const std::optional<std::int64_t> total = input_counter_ ? input_counter_->total() : std::nullopt;
  if (total && !progress.is_total_final) {
    progress.total = std::max(progress.total, *total);
    progress.is_total_final = true;
  }
  progress.activity = pipeline_->describe_longest_step(kMinShownStep);
  progress.bottleneck = reports::short_bottleneck_text(monitor_->last_view().recent);
  return progress;
}

/// Returns the decision for each output, and sets the outcome of the item as far as these determine
/// it.
std::vector<pipeline::OutputDecision> Run::inspect_outputs(pipeline::WorkItem& item) {
  std::vector<pipeline::OutputDecision> decisions;
  if (!item.outcome.ok()) return decisions;
  pipeline::attempt(item.outcome, Stage::load, FailureReason::internal,
                    [&] { job_.skip_if_done(item); });
  const bool is_collision = item.outcome.reason == FailureReason::output_collision;
  if (item.outcome.result == ItemResult::failed && !is_collision) return decisions;
  for (std::size_t i = 0; i < item.outputs.size(); ++i) {
    std::optional<pipeline::OutputDecision> decision;
    pipeline::attempt(item.outcome, Stage::write, FailureReason::internal,
                      [&] { decision = job_.decision_for(item, i); });
    if (!decision) return {};
    decisions.push_back(std::move(*decision));
    const bool is_taken = decisions.back().action == pipeline::OutputAction::compare ||
                          decisions.back().action == pipeline::OutputAction::reject;
    if (item.outcome.ok() && is_taken)
      item.outcome = Outcome::failed(Stage::write, FailureReason::output_collision,
                                     decisions.back().explanation);
  }
  return decisions;
}

telemetry::RunReport Run::dry_run(const DryRunVisitor& visit) {
  telemetry::RunReport report;
  job_.prepare_read_only();
  while (auto arrival = source_->next({})) {
    const pipeline::ItemPtr item = pipeline::make_work_item(std::move(*arrival));
    if (item->outcome.ok())
      pipeline::attempt(item->outcome, Stage::source, FailureReason::internal, [&] {
        job_.assign_outputs(*item);
        job_.check_outputs(*item);
      });
    const std::vector<pipeline::OutputDecision> decisions = inspect_outputs(*item);
    const bool skipped = item->outcome.result == ItemResult::skipped;
    ++(item->outcome.ok() ? report.done : skipped ? report.skipped : report.failed);
    if (item->outcome.ok()) report.input_bytes += size_or_zero(item->file);
    if (item->outcome.result == ItemResult::failed)
      ++report.failures[std::size_t(item->outcome.reason)];
    visit(*item, decisions);
  }
  report.ignored = source_->ignored_count();
  report.not_read = source_->unread_files().by_extension();
  warn_of_output_folders(report, *source_);
  return report;
}

std::string Run::inputs_text() const {
  if (request_.shard)
    return "shard " + std::to_string(request_.shard->index) + " of " +
           text::printable(request_.shard->file.native());
  if (request_.files_from.empty()) return text::path_list(request_.inputs);
  if (request_.files_from == "-") return "the list on stdin";
  return "the list " + text::printable(request_.files_from.native());
}

ExitCode exit_code(const telemetry::RunReport& report) {
  const auto failures = [&](FailureReason reason) { return report.failures[std::size_t(reason)]; };
  if (!report.stopped_by.empty() || failures(FailureReason::not_written) > 0)
    return ExitCode::io_error;
  if (report.done + report.skipped + report.partly_done > 0)
    return report.failed > 0 ? ExitCode::some_failed : ExitCode::ok;
  if (report.failed > 0 && failures(FailureReason::not_found) == report.failed)
    return ExitCode::no_input;
  const auto unreadable_count =
      failures(FailureReason::not_found) + failures(FailureReason::unreadable) +
      failures(FailureReason::empty_file) + failures(FailureReason::not_an_image) +
      failures(FailureReason::unsupported) + failures(FailureReason::too_large) +
      failures(FailureReason::corrupt);
  return unreadable_count == report.failed ? ExitCode::nothing_readable : ExitCode::some_failed;
}

}  // namespace eckart::app
