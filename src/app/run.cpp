#include "app/run.hpp"

#include <spdlog/spdlog.h>
#include <sys/resource.h>

#include <algorithm>
#include <limits>
#include <thread>

#include "core/error.hpp"
#include "core/printable.hpp"
#include "core/state_folder.hpp"
#include "flow/pause.hpp"
#include "pipeline/attempt.hpp"
#include "pipeline/output_quality.hpp"

namespace eckart::app {
namespace {

/// Files that a write thread publishes together: each is open until then, and half of what the
/// process may open is for others.
int publish_group(int write_threads) {
  constexpr rlim_t kMost = 32;
  rlimit limit{kMost, kMost};
  static_cast<void>(getrlimit(RLIMIT_NOFILE, &limit));
  return int(std::clamp(limit.rlim_cur / 2 / rlim_t(write_threads), rlim_t(1), kMost));
}

int cores() { return int(std::max(1U, std::thread::hardware_concurrency())); }

io::Limits io_limits(const settings::Limits& limits) {
  return {.pixels = limits.pixels,
          .side = limits.side,
          .file_mb = limits.file_mb,
          .decode_mb = limits.decode_mb,
          .decode_s = limits.decode_s};
}

/// Writing costs several times what loading does (see docs/performance.md), so the writers get more
/// threads; two at least, since one waits for the disk now and then.
PipelineOptions pipeline_options(const settings::Settings& settings) {
  const auto or_auto = [](int threads, int otherwise) { return threads > 0 ? threads : otherwise; };
  const int write_threads = or_auto(settings.threads.write, std::max(2, cores() * 3 / 4));
  return {.load_threads = or_auto(settings.threads.load, std::max(1, cores() / 3)),
          .write_threads = write_threads,
          .budget_bytes = std::size_t(settings.budget_mb) << 20,
          .pad = settings.batch.pad,
          .linger = std::chrono::milliseconds(settings.batch.linger_ms),
          .publish_group = settings.durability == "group" ? publish_group(write_threads) : 1,
          .wait_for_space = settings.wait_for_space};
}

BackendOptions backend_options(const settings::Settings& settings,
                               const std::vector<RankPolicy>& ranks,
                               const Calibration& calibration) {
  return {.ranks = ranks,
          .solver = parse_solver(settings.solver),
          .deterministic = settings.deterministic,
          .lanes = settings.cuda.lanes,
          .batch_images = settings.batch.images,
          .devices = settings.cuda.devices,
          .memory_fraction = settings.cuda.memory_fraction,
          .calibration = calibration};
}

io::OutputTree make_outputs(const RunRequest& request, const std::vector<RankPolicy>& ranks) {
  const settings::Output& output = request.settings.output;
  return {request.output,
          output.name.empty() ? io::OutputTree::default_name(ranks.size()) : output.name,
          io::codec_named(output.format), ranks};
}

std::unique_ptr<io::Source> make_sources(const RunRequest& request) {
  std::vector<std::unique_ptr<io::Source>> sources;
  for (const auto& input : request.inputs) sources.push_back(io::make_source(input));
  if (!request.files_from.empty())
    sources.push_back(io::make_list_source(request.files_from, request.output));
  return io::chain(std::move(sources));
}

/// What of the settings makes other pixels, for each rank. Not the backend: what one has done is as
/// good as what another would do, and a run whose GPU is lost goes on with the CPU.
std::vector<std::string> pixels_texts(const settings::Settings& settings,
                                      const std::vector<RankPolicy>& ranks) {
  std::string text = settings.output.format + ", solver " + settings.solver +
                     (settings.deterministic ? ", deterministic" : "");
  if (settings.output.format == "jpeg")
    text += ", quality " + std::to_string(settings.output.jpeg_quality);
  std::vector<std::string> texts;
  texts.reserve(ranks.size());
  for (const RankPolicy& rank : ranks) texts.push_back(text + ", rank " + to_string(rank));
  return texts;
}

/// Else `eckart status` would name them for ever. Folders are no images: those that cannot be read
/// say so in every run.
void forget_failures_of_what_is_gone(ledger::Ledger& ledger) {
  ledger::Changes gone;
  std::error_code none;
  for (ledger::Failure& failure : ledger.failed(std::numeric_limits<int>::max())) {
    if (std::filesystem::symlink_status(failure.input, none).type() ==
            std::filesystem::file_type::not_found ||
        std::filesystem::is_directory(failure.input, none))
      gone.cleared.push_back(std::move(failure.input));
  }
  ledger.record(gone);
}

}  // namespace

Run::Run(RunRequest request, std::chrono::steady_clock::time_point start)
    : request_(std::move(request)),
      start_(start),
      ranks_(parse_ranks(request_.settings.rank)),
      calibration_(settings::load_calibration(request_.settings.calibration)),
      outputs_(make_outputs(request_, ranks_)),
      guard_(request_.inputs, request_.output),
      source_(make_sources(request_)) {
  const settings::Settings& settings = request_.settings;
  const auto make_backend_now = [this]() -> Backend& {
    const settings::Settings& wanted = request_.settings;
    for (const std::string& warning : calibration_.warnings) spdlog::warn(warning);
    backend_ = make_backend(wanted.backend, backend_options(wanted, ranks_, calibration_.costs),
                            wanted.cpu.lanes);
    if (request_.restarts > 0 && backend_.backend->name() == "cpu")
      spdlog::warn("without the GPU that was lost: the CPU does the rest");
    spdlog::info("backend {} ({}): {}", backend_.backend->name(), backend_.reason,
                 backend_.backend->description());
    return *backend_.backend;
  };
  pipeline_ = std::make_unique<Pipeline>(
      PipelineParts{.source = *source_,
                    .backend = make_backend_now,
                    .claim = claim_and_clean(),
                    .load = make_load(io_limits(settings.limits), ranks_, outputs_.codec(),
                                      [this](WorkItem& item) {
                                        if (resume_) resume_->check(item);
                                      }),
                    .write = make_write(outputs_.codec(), {settings.output.jpeg_quality}),
                    .publish = make_publish(
                        settings.durability != "none",
                        [this] {
                          lock_->check_in_place();
                          if (ledger_) ledger_->check_in_place();
                        },
                        [this](std::span<WorkItem* const> items) {
                          if (resume_) resume_->record(items);
                        }),
                    .report =
                        [this](const WorkItem& item) {
                          if (report_) add_to(*report_, item);
                        },
                    .on_lost =
                        [this](const InFlight::Items& items) {
                          if (resume_) resume_->record_lost(items);
                        }},
      pipeline_options(settings));
  if (request_.count_ahead && can_list_again()) count_.emplace(make_sources(request_));
}

telemetry::RunReport Run::execute() {
  for (bool told = false;; told = true) {
    try {
      prepare_output();
      break;
    } catch (const EnvironmentError& error) {
      const bool waits =
          request_.settings.wait_for_space && error.wants() == EnvironmentError::Wants::space;
      if (waits && !told) spdlog::warn("{}: waiting for space", printable(error.what()));
      if (!waits || !flow::pause(std::chrono::seconds(1), stop_.get_token())) throw;
    }
  }
  if (!request_.report.empty()) report_.emplace(request_.report, request_.restarts > 0);
  telemetry::RunReport report = pipeline_->run();
  if (!report.stopped_by.empty())
    spdlog::error("{}: stopped; {} does the rest", printable(report.stopped_by),
                  lock_->is_in_place() ? "the same command" : "a run into it, wherever it is,");
  report.backend_note += "; " + backend_.reason;
  if (outputs_.codec().name == "jpeg" && report.outputs > 0)
    report.remarks.emplace_back("PSNR is that of the reconstructions; the files lose more by JPEG");
  if (request_.restarts > 0)
    report.remarks.push_back("the GPU was lost " + std::to_string(request_.restarts) +
                             (request_.restarts == 1 ? " time" : " times") +
                             "; what was done before is counted as skipped");
  report.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  return report;
}

/// As often as it is called.
void Run::prepare_output() {
  if (!lock_) lock_.emplace(request_.output);
  if (lock_->holds() && !stale_) stale_.emplace(request_.output);
  outputs_.fold_case(io::prepare_output_root(request_.output));
  if (const auto file = ledger_file(request_.output, request_.settings.ledger); !file.empty())
    resume_from(
        std::make_unique<ledger::Ledger>(file, request_.settings.durability != "none",
                                         [](const std::string& text) { spdlog::warn(text); }));
}

ClaimOutputs Run::claim() {
  return make_claim(outputs_, guard_, [this](const WorkItem& item, const auto& output) {
    return resume_ && resume_->was_made(item, output);
  });
}

ClaimOutputs Run::claim_and_clean() {
  return [this, claim_outputs = claim()](WorkItem& item) {
    claim_outputs(item);
    if (stale_) stale_->remove_from(item.outputs.front().parent_path());
  };
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

ledger::Request Run::recorded() const {
  ledger::Request recorded{.settings = settings::to_yaml(request_.settings),
                           .inputs = {},
                           .files_from = request_.files_from.native()};
  std::error_code none;
  for (const auto& input : request_.inputs)
    recorded.inputs.push_back(std::filesystem::absolute(input, none).lexically_normal().native());
  return recorded;
}

void Run::resume_from(std::unique_ptr<ledger::Ledger> ledger) {
  if (!ledger) return;
  ledger_ = std::move(ledger);
  const bool is_new = request_.restarts == 0;
  if (is_new && !ledger_->is_read_only()) {
    if (request_.overwrite) ledger_->forget_suspects();
    forget_failures_of_what_is_gone(*ledger_);
    ledger_->record_request(recorded());
  }
  const std::int64_t this_run = ledger_->run() + (ledger_->is_read_only() ? 1 : 0);
  // One of its own moves with the folder.
  resume_.emplace(*ledger_, ResumeOptions{.root = request_.settings.ledger == "auto"
                                                      ? request_.output
                                                      : std::filesystem::path("/"),
                                          .settings = pixels_texts(request_.settings, ranks_),
                                          .first_run = request_.overwrite ? this_run : 0,
                                          .on_gpu = request_.settings.backend != "cpu"});
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
  return progress;
}

telemetry::RunReport Run::dry_run(const std::function<void(const WorkItem&)>& tell) {
  telemetry::RunReport report;
  const ClaimOutputs claim = this->claim();
  if (const auto file = ledger_file(request_.output, request_.settings.ledger); !file.empty())
    resume_from(ledger::Ledger::open_to_read(file));
  while (auto arrival = source_->next({})) {
    const ItemPtr item = take_in(std::move(*arrival), claim);
    if (item->outcome.ok() && resume_)
      attempt(item->outcome, Stage::load, Reason::internal, [&] { resume_->check(*item); });
    const bool skipped = item->outcome.result == Result::skipped;
    ++(item->outcome.ok() ? report.done : skipped ? report.skipped : report.failed);
    if (item->outcome.result == Result::failed)
      ++report.failures[std::size_t(item->outcome.reason)];
    tell(*item);
  }
  report.ignored = source_->ignored();
  return report;
}

std::filesystem::path ledger_file(const std::filesystem::path& output, const std::string& setting) {
  if (setting == "none") return {};
  return setting == "auto" ? output / kStateFolder / "ledger.db" : std::filesystem::path(setting);
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
