#include "app/job.hpp"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <limits>
#include <set>
#include <system_error>
#include <utility>

#include "analysis/comparison.hpp"
#include "app/ledger_choice.hpp"
#include "app/ledger_outputs.hpp"
#include "app/output_settings.hpp"
#include "app/quarantine_list.hpp"
#include "app/shard_files.hpp"
#include "app/shard_ledger.hpp"
#include "core/error.hpp"
#include "files/file_descriptor.hpp"
#include "io/is_within.hpp"
#include "io/open_archive.hpp"
#include "pipeline/available_ranks.hpp"
#include "pipeline/equal_outputs.hpp"
#include "pipeline/output_quality.hpp"
#include "text/printable.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;
using Naming = io::OutputTree::Naming;

io::InputGuard make_guard(const JobRequest& request) {
  const bool replaces_inputs_of_list = request.overwrite && !request.files_from.empty();
  return request.settings.output.writes_files()
             ? io::InputGuard(request.inputs, request.output, replaces_inputs_of_list)
             : io::InputGuard();
}

ledger::LedgerOptions ledger_options(const JobRequest& request) {
  ledger::LedgerOptions options = logged_ledger_options();
  options.durable = request.settings.durability != settings::Durability::none;
  options.timeout = request.ledger_timeout;
  return options;
}

/// Returns the request. Throws std::invalid_argument.
JobRequest checked(JobRequest request) {
  settings::check_chroma_rank(request.settings);
  return request;
}

pipeline::MeasureOptions measure_options(const JobRequest& request) {
  const settings::QualitySettings& quality = request.settings.quality;
  const settings::OutputSettings& output = request.settings.output;
  const bool is_for_measuring = request.has_report || !output.writes_files();
  return {.is_lossy = is_lossy(output.format, encode_options(output)),
          .files = quality.measure != settings::MeasureChoice::fast,
          .pixels = quality.measure == settings::MeasureChoice::full ||
                    (quality.measure == settings::MeasureChoice::automatic && is_for_measuring)};
}

/// How a backend may encode outputs; nothing if their pixels are needed.
std::optional<OutputEncoding> output_encoding(const settings::OutputSettings& output,
                                              const pipeline::MeasureOptions& measured) {
  if (output.residual.is_written() || measured.pixels) return std::nullopt;
  const EncodeOptions options = encode_options(output);
  if (output.format == OutputFormat::png && options.png == PngCompression::fast)
    return OutputEncoding{.format = OutputFormat::png};
  if (output.format == OutputFormat::jpeg && !options.jpeg_progressive && !options.jpeg_optimize)
    return OutputEncoding{.format = OutputFormat::jpeg,
                          .jpeg_quality = options.jpeg_quality,
                          .measures_file = measured.files};
  return std::nullopt;
}

pipeline::InputOptions input_options(const JobRequest& request) {
  const settings::Settings& settings = request.settings;
  const settings::OutputSettings& output = settings.output;
  const pipeline::MeasureOptions measured = measure_options(request);
  const std::optional<OutputEncoding> encoding = output_encoding(output, measured);
  const bool measures_decoded_files = measured.is_lossy && measured.files && !encoding;
  std::string why_no_factors;
  if (request.measures) why_no_factors = "measurements";
  if (output.residual.is_written() && output.format != OutputFormat::none)
    why_no_factors = "output.residual";
  return {.decoder = settings.input.decoder,
          .alpha = settings.input.alpha,
          .preparation = settings.preparation(),
          .color = settings.color,
          .chroma_rank = settings.chroma_rank,
          .wants_spectra = request.wants_spectra,
          .wants_factors = output.factors != FactorType::none,
          .encoding = encoding,
          .jpeg_subsampling = encode_options(output).jpeg_subsampling,
          .needs_no_pixels = !measured.pixels && !measures_decoded_files &&
                             !output.residual.is_written() && !request.wants_spectra &&
                             output.factors == FactorType::none &&
                             settings.quality.peak.source != PeakSource::range,
          .why_no_factors = why_no_factors};
}

/// If the file cannot be opened, who reads it reports the error.
std::optional<io::InputFile> open_if_possible(const fs::path& file) try {
  return io::InputFile(file);
} catch (const ItemError&) {
  return std::nullopt;
}

}  // namespace

Job::Job(JobRequest request)
    : request_(checked(std::move(request))),
      ranks_(request_.settings.ranks),
      outputs_(make_output_tree(request_.settings, request_.output)),
      guard_(make_guard(request_)),
      loader_(request_.settings.limits, ranks_, outputs_ ? outputs_->codec() : nullptr,
              request_.settings.backend == settings::BackendChoice::checked ? 2 : 1,
              input_options(request_)) {
  if (!outputs_) return;
  naming_.emplace(*outputs_, resume_, is_watch() || request_.inputs_may_return);
  static_cast<void>(ledger_file(request_.output, request_.settings.ledger));
}

void Job::prepare() {
  if (!outputs_) return;
  const bool is_shared = request_.shares_output;
  if (!lock_)
    lock_.emplace(request_.output,
                  is_shared ? io::FolderLock::Mode::shared : io::FolderLock::Mode::exclusive);
  if (lock_->is_held() && !is_shared && !stale_) stale_.emplace(request_.output);
  outputs_->set_case_insensitive(io::prepare_output_root(request_.output));
  if (!is_shared && request_.settings.ledger.is_auto()) check_merged(request_.output);
  if (const auto file = ledger_file(request_.output, request_.settings.ledger); !file.empty())
    resume_from(std::make_unique<ledger::Ledger>(file, ledger_options(request_)));
}

void Job::prepare_read_only() {
  if (!outputs_) return;
  const auto file = ledger_file(request_.output, request_.settings.ledger);
  if (file.empty()) return;
  try {
    resume_from(ledger::Ledger::open_read_only(file));
  } catch (const FatalError& error) {
    if (error.code() != ExitCode::nothing_readable) throw;
    spdlog::warn("{}", text::printable_message(error.what()));  // a run continues with a new ledger
  }
}

void Job::assign_outputs(pipeline::WorkItem& item) {
  if (!outputs_) return item.outputs.resize(ranks_.size());
  item.has_factors = outputs_->has_factors();
  naming_->assign(item);
  if (stale_) stale_->remove_beside(item.outputs.front());
}

void Job::load(pipeline::WorkItem& item, pipeline::LoadContext& context) {
  std::optional<io::InputFile> open = pipeline::open_watched_file(item);
  if (!check_outputs(item) && !open) open = open_if_possible(item.file);
  skip_if_done(item, open ? &*open : nullptr);
  if (item.outcome.result == ItemResult::skipped) return;
  if (resume_ && resume_->may_have_factors())
    item.kept_factors = resume_->find_factors(item, outputs_->possible_factors_of(item.relative));
  loader_.load(item, std::move(open), context);
  if (item.task.input.empty()) return;
  pipeline::set_peak(item, request_.settings.quality.peak);
  warn_of_unused_bits(item);
  if (!item.has_known_pixels())
    pipeline::leave_out_unavailable_ranks(item, request_.settings.chroma_rank);
}

bool Job::check_outputs(const pipeline::WorkItem& item) const {
  bool exists = false;
  if (!outputs_) return exists;
  for (const fs::path& output : item.outputs) {
    if (item.outputs_are_free) {
      guard_.check_free(output);
    } else {
      exists |= guard_.check(item.file, output);
    }
  }
  return exists;
}

/// The bits of DICOM are known.
void Job::warn_of_unused_bits(const pipeline::WorkItem& item) {
  if (request_.settings.quality.peak.source != PeakSource::automatic || item.metadata.dicom ||
      !item.has_known_pixels() || has_warned_of_bits_)
    return;
  const Image& image = item.image.empty() ? item.task.input : item.image;
  const std::string problem = analysis::describe_unused_bits(image);
  if (problem.empty() || has_warned_of_bits_.exchange(true)) return;
  spdlog::warn("{}: {} (logged once)", text::printable(item.file.native()), problem);
}

pipeline::WriteOptions Job::write_options() const {
  const settings::OutputSettings& output = request_.settings.output;
  // Programs that take the outputs of a service from its folder may wait for IN_MOVED_TO.
  const auto temporary_name = is_watch() ? io::TemporaryName::at_once : io::TemporaryName::late;
  return {.encode = encode_options(output),
          .metadata = output.metadata,
          .keeps_times = output.times == settings::OutputTimes::keep,
          .residual = output.residual,
          .factors = output.factors,
          .stamp = output.stamp ? "eckart " ECKART_VERSION : "",
          .measure = measure_options(request_),
          .temporary_name = temporary_name};
}

void Job::write(pipeline::WorkItem& item) {
  if (!outputs_) return pipeline::measure_outputs(item, measure_options(request_));
  pipeline::encode_outputs(item, outputs_->codec(), write_options());
}

std::vector<pipeline::EncodedFile> Job::encode(pipeline::WorkItem& item) const {
  return pipeline::encode_in_memory(item, outputs_->codec(), write_options());
}

/// A run that fails before its first output does not note its settings.
void Job::note_shared_settings(std::span<const pipeline::ItemPtr> group) {
  if (!request_.shares_output || !outputs_ ||
      std::ranges::none_of(group, [](const auto& item) { return item->outcome.ok(); }))
    return;
  const bool reprocesses =
      request_.overwrite || request_.on_change == pipeline::OnSettingsChange::reprocess;
  std::call_once(has_noted_settings_, [&] {
    note_settings(request_.output, output_settings(request_.settings), reprocesses);
  });
}

void Job::publish(std::span<pipeline::ItemPtr> group) {
  note_shared_settings(group);
  pipeline::publish_outputs(group, *this,
                            request_.settings.durability != settings::Durability::none);
}

void Job::abandon_intents(std::span<pipeline::WorkItem* const> items) {
  if (resume_) resume_->abandon_intents(items);
}

void Job::record(std::span<pipeline::WorkItem* const> items,
                 std::span<pipeline::WorkItem* const> next) {
  if (resume_) resume_->record(items, next);
}

void Job::release_outputs(const pipeline::WorkItem& item) {
  if (outputs_ && !item.outputs.empty()) outputs_->release(item.relative);
}

/// The output names come from the ledger, regardless of the order of the inputs in this run.
void Job::skip_if_done(pipeline::WorkItem& item, const io::InputFile* open) {
  if (!resume_) return;
  const auto use_full_names = [&] {
    if (!naming_->use_full_names(item)) return false;
    check_outputs(item);
    return true;
  };
  naming_->use_names_of_earlier_run(item);
  if (request_.overwrite && resume_->collides_with_sibling(item)) use_full_names();
  try {
    resume_->check(item, open);
  } catch (const ItemError& error) {
    if (error.reason() != FailureReason::output_collision ||
        !resume_->collides_with_sibling(item) || !use_full_names())
      throw;
    resume_->check(item, open);
  }
  if (!ledger_->is_read_only()) naming_->log_full_name(item);
}

pipeline::OutputDecision Job::decision_for(const pipeline::WorkItem& item,
                                           std::size_t output) const {
  if (resume_) return resume_->decision_for(item, output);
  const pipeline::PathStatus path_status = pipeline::stat_path(item.outputs[output]);
  pipeline::check_status_available(item.outputs[output], path_status);
  pipeline::OutputDecision decision =
      pipeline::decide_output({.input = {},
                               .settings = 0,
                               .on_change = pipeline::OnSettingsChange::refuse,
                               .min_run = request_.overwrite},
                              {}, path_status);
  const bool has_ledger = !request_.settings.ledger.is_none();
  if (decision.action == pipeline::OutputAction::compare && !has_ledger)
    decision.explanation = "no ledger is kept";
  return decision;
}

io::CollisionAction Job::resolve_collision(const pipeline::WorkItem& item, const fs::path& output,
                                           const fs::path& written) const {
  const auto found = std::find(item.outputs.begin(), item.outputs.end(), output);
  const auto index = std::size_t(found - item.outputs.begin());
  const pipeline::OutputDecision decision = decision_for(item, index);
  const bool may_be_equal = decision.action == pipeline::OutputAction::compare ||
                            decision.action == pipeline::OutputAction::skip ||
                            decision.is_unrecorded;
  if (request_.shares_output && may_be_equal && have_shards_one_setting(request_.output) &&
      pipeline::are_equal_outputs(output, written))
    return io::CollisionAction::keep;
  return eckart::pipeline::resolve_collision(decision, output, written);
}

bool Job::is_done(pipeline::WorkItem& item) const {
  if (!resume_) return false;
  for (const Naming naming : {Naming::usual, Naming::full}) {
    item.outputs = outputs_->outputs_of(item.relative, naming);
    if (resume_->is_done(item)) return true;
  }
  return false;
}

void Job::check_in_place() const {
  if (lock_) lock_->check_not_replaced();
  if (ledger_) ledger_->check_not_replaced();
}

std::optional<std::string> Job::forget_missing_outputs(const std::string& after) const {
  if (!resume_) return std::nullopt;
  // Open the folder itself: if it is moved away meanwhile, every output would be missing at its
  // path.
  const files::FileDescriptor folder(
      ::open(request_.output.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  check_in_place();
  const fs::path root = fs::absolute(request_.output).lexically_normal();
  return resume_->forget_missing_outputs(after, [&](const fs::path& output) {
    const fs::path relative = output.lexically_relative(root);
    struct stat none {};
    return io::stays_within(relative) &&
           ::fstatat(folder.get(), relative.c_str(), &none, AT_SYMLINK_NOFOLLOW) != 0 &&
           errno == ENOENT;
  });
}

/// Returns whether a run into this folder recorded the input. If the ledger is shared, the path of
/// the input decides.
bool Job::is_own_input(const fs::path& input) const {
  if (is_own_ledger(request_.output, request_.settings.ledger)) return true;
  return std::ranges::any_of(request_.inputs, [&](const fs::path& own) {
    std::error_code none;
    const fs::path relative =
        input.lexically_relative((fs::absolute(own, none) / "").lexically_normal());
    return io::stays_within(relative);
  });
}

/// Without this, `eckart status` would list these failures forever. Inputs of other jobs are
/// excluded, because they may be in another quarantine. Folders and archives are excluded, because
/// every run reports those that cannot be read.
void Job::forget_failures_of_missing_inputs(std::set<std::string>* missing_before) {
  if (!ledger_) return;
  std::set<std::string> missing;
  std::optional<std::set<std::string>> quarantined;  // read only if needed
  const auto is_quarantined = [&](const std::string& input) {
    if (request_.is_quarantined && request_.is_quarantined(input)) return true;
    if (!quarantined) quarantined = quarantined_inputs(request_.output);
    return quarantined->contains(input);
  };
  ledger::LedgerChanges gone;
  std::error_code none;
  for (ledger::FailureEntry& failure : ledger_->failures(std::numeric_limits<int>::max())) {
    if (!is_own_input(failure.input)) continue;
    const bool is_gone = (!io::input_exists(failure.input) && !is_quarantined(failure.input)) ||
                         fs::is_directory(failure.input, none) ||
                         io::is_archive_path(failure.input);
    if (!is_gone) continue;
    if (missing_before) missing.insert(failure.input);
    if (!missing_before || missing_before->contains(failure.input))
      gone.cleared.push_back(std::move(failure.input));
  }
  if (missing_before) *missing_before = std::move(missing);
  ledger_->record(gone);
}

void Job::record_removed_inputs(std::span<pipeline::WorkItem* const> items) {
  if (resume_) resume_->record_removed_inputs(items);
}

void Job::record_suspects(const pipeline::InFlightBatches::Items& items) {
  if (resume_) resume_->record_suspects(items);
}

ledger::RequestEntry Job::ledger_request() const {
  ledger::RequestEntry ledger_request{.settings = settings::to_yaml(request_.settings),
                                      .inputs = {},
                                      .files_from = request_.files_from.native(),
                                      .output_settings = output_settings(request_.settings),
                                      .links = request_.links};
  std::error_code none;
  for (const auto& input : request_.inputs)
    ledger_request.inputs.push_back(fs::absolute(input, none).lexically_normal().native());
  return ledger_request;
}

void Job::resume_from(std::unique_ptr<ledger::Ledger> ledger) {
  if (!ledger) return;
  ledger_ = std::move(ledger);
  if (request_.shares_output) use_folder_ledger(*ledger_, request_.output);
  const bool is_new = request_.restarts == 0;
  if (is_new && !ledger_->is_read_only()) {
    if (request_.overwrite) ledger_->clear_suspects();
    forget_failures_of_missing_inputs();
    ledger_->record_request(ledger_request());
  } else if (!is_new && !ledger_->is_read_only()) {
    ledger_->continue_run(ledger_request(), request_.run_number);
  }
  run_number_ = is_new ? ledger_->run() + (ledger_->is_read_only() ? 1 : 0) : request_.run_number;
  // A folder's own ledger has relative paths, because it moves with the folder.
  resume_.emplace(
      *ledger_,
      pipeline::ResumeOptions{
          .root = is_own_ledger(request_.output, request_.settings.ledger) ? request_.output
                                                                           : fs::path("/"),
          .settings = output_settings(request_.settings),
          .factors_settings = request_.settings.certificate == Certificate::bound
                                  ? ""  // of factors, no bound is proven
                                  : factors_settings(request_.settings),
          .on_change = request_.on_change,
          .min_run = request_.overwrite ? run_number_ : 0,
          .compares_content =
              request_.settings.ledger_identity == settings::LedgerIdentity::content,
          .compares_inode = request_.removes_inputs,
          .uses_gpu = request_.settings.backend != settings::BackendChoice::cpu,
          .syncs_results = request_.syncs_results});
}

}  // namespace eckart::app
