#include "app/job.hpp"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <limits>
#include <system_error>
#include <utility>

#include "core/state_folder.hpp"
#include "io/descriptor.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;

io::Limits io_limits(const settings::Limits& limits) {
  return {.pixels = limits.pixels,
          .side = limits.side,
          .file_mb = limits.file_mb,
          .decode_mb = limits.decode_mb,
          .decode_s = limits.decode_s};
}

io::OutputTree make_outputs(const JobRequest& request, const std::vector<RankPolicy>& ranks) {
  const settings::Output& output = request.settings.output;
  return {request.output,
          output.name.empty() ? io::OutputTree::default_name(ranks.size()) : output.name,
          io::codec_named(output.format), ranks};
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

ledger::LedgerOptions ledger_options(const JobRequest& request) {
  ledger::LedgerOptions options;
  options.durable = request.settings.durability != "none";
  options.warn = [](const std::string& text) { spdlog::warn(text); };
  if (request.long_lived) options.patience = std::chrono::milliseconds(200);  // others wait as long
  return options;
}

}  // namespace

Job::Job(JobRequest request)
    : request_(std::move(request)),
      ranks_(parse_ranks(request_.settings.rank)),
      outputs_(make_outputs(request_, ranks_)),
      guard_(request_.inputs, request_.output),
      claim_(make_claim(outputs_, guard_,
                        [this](const WorkItem& item, const auto& output) {
                          return resume_ && resume_->was_made(item, output);
                        })),
      load_(make_load(io_limits(request_.settings.limits), ranks_, outputs_.codec(),
                      [this](WorkItem& item) { check_done(item); })),
      write_(make_write(outputs_.codec(), {request_.settings.output.jpeg_quality})),
      publish_(make_publish(
          request_.settings.durability != "none", [this] { check_place(); },
          [this](std::span<WorkItem* const> items) {
            if (resume_) resume_->record(items);
          })) {}

void Job::prepare() {
  if (!lock_) lock_.emplace(request_.output);
  if (lock_->holds() && !stale_) stale_.emplace(request_.output);
  outputs_.fold_case(io::prepare_output_root(request_.output));
  if (const auto file = ledger_file(request_.output, request_.settings.ledger); !file.empty())
    resume_from(std::make_unique<ledger::Ledger>(file, ledger_options(request_)));
}

void Job::look() {
  if (const auto file = ledger_file(request_.output, request_.settings.ledger); !file.empty())
    resume_from(ledger::Ledger::open_to_read(file));
}

void Job::claim(WorkItem& item) {
  claim_(item);
  if (stale_) stale_->remove_from(item.outputs.front().parent_path());
}

void Job::release(const WorkItem& item) {
  if (!item.outputs.empty()) outputs_.release(item.relative);
}

void Job::check_done(WorkItem& item) const {
  if (!resume_) return;
  resume_->check(item);
  if (request_.long_lived && item.outcome.ok()) resume_->check_owner(item);
}

bool Job::is_done(WorkItem& item) const {
  item.outputs = outputs_.outputs_of(item.relative);
  return resume_ && resume_->is_done(item);
}

void Job::check_place() const {
  lock_->check_in_place();
  if (ledger_) ledger_->check_in_place();
}

std::optional<std::string> Job::forget_gone(const std::string& after) const {
  if (!resume_) return std::nullopt;
  // In the folder itself: in one that is moved away meanwhile nothing would be at its path.
  const io::Descriptor folder(::open(request_.output.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  check_place();
  const fs::path root = fs::absolute(request_.output).lexically_normal();
  return resume_->forget_gone(after, [&](const fs::path& output) {
    const fs::path place = output.lexically_relative(root);
    struct stat none {};
    return !place.empty() && *place.begin() != ".." &&
           ::fstatat(folder.get(), place.c_str(), &none, AT_SYMLINK_NOFOLLOW) != 0 &&
           errno == ENOENT;
  });
}

/// Else `eckart status` would name them for ever. Folders are no images: those that cannot be read
/// say so in every run.
void Job::forget_failures_of_what_is_gone() {
  if (!ledger_) return;
  ledger::Changes gone;
  std::error_code none;
  for (ledger::Failure& failure : ledger_->failed(std::numeric_limits<int>::max())) {
    const fs::file_type type = fs::symlink_status(failure.input, none).type();
    const bool is_kept = request_.is_quarantined && request_.is_quarantined(failure.input);
    if ((type == fs::file_type::not_found && !is_kept) || fs::is_directory(failure.input, none))
      gone.cleared.push_back(std::move(failure.input));
  }
  ledger_->record(gone);
}

void Job::record_taken(std::span<WorkItem* const> items) {
  if (resume_) resume_->record_taken(items);
}

void Job::record_lost(const InFlight::Items& items) {
  if (resume_) resume_->record_lost(items);
}

ledger::Request Job::recorded() const {
  ledger::Request recorded{.settings = settings::to_yaml(request_.settings),
                           .inputs = {},
                           .files_from = request_.files_from.native()};
  std::error_code none;
  for (const auto& input : request_.inputs)
    recorded.inputs.push_back(fs::absolute(input, none).lexically_normal().native());
  return recorded;
}

void Job::resume_from(std::unique_ptr<ledger::Ledger> ledger) {
  if (!ledger) return;
  ledger_ = std::move(ledger);
  const bool is_new = request_.restarts == 0;
  if (is_new && !ledger_->is_read_only()) {
    if (request_.overwrite) ledger_->forget_suspects();
    forget_failures_of_what_is_gone();
    ledger_->record_request(recorded());
  }
  const std::int64_t this_run = ledger_->run() + (ledger_->is_read_only() ? 1 : 0);
  // One of its own moves with the folder.
  resume_.emplace(
      *ledger_,
      ResumeOptions{.root = request_.settings.ledger == "auto" ? request_.output : fs::path("/"),
                    .settings = pixels_texts(request_.settings, ranks_),
                    .first_run = request_.overwrite ? this_run : 0,
                    .on_gpu = request_.settings.backend != "cpu"});
}

fs::path ledger_file(const fs::path& output, const std::string& setting) {
  if (setting == "none") return {};
  return setting == "auto" ? output / kStateFolder / "ledger.db" : fs::path(setting);
}

}  // namespace eckart::app
