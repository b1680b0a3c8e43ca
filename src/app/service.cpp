#include "app/service.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "app/made_with_other.hpp"
#include "app/options.hpp"
#include "app/remarks.hpp"
#include "app/requeue.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"
#include "io/real_path.hpp"
#include "telemetry/log.hpp"

namespace eckart::app {
namespace {

using io::is_or_is_below;
using settings::Watch;

/// Whether what is put into this folder arrives in the watch.
bool arrives(const std::filesystem::path& folder, const Watch& to) {
  if (folder.empty() || !is_or_is_below(folder, to.input)) return false;
  return std::none_of(to.exclude.begin(), to.exclude.end(), [&](const auto& excluded) {
    return is_or_is_below(folder, to.input / excluded);
  });
}

/// Whether what the one writes or moves away arrives at the other.
bool feeds(const Watch& from, const Watch& to) {
  return arrives(from.output, to) || arrives(from.move_to, to);
}

[[noreturn]] void refuse_loop(const Watch& watch, const Watch& last) {
  const std::string what = arrives(last.output, watch) ? "results" : "moved inputs";
  const std::string way = &last == &watch ? "its " + what : "the " + what + " of " + last.place;
  throw FatalError(ExitCode::configuration, watch.place + ": " + way +
                                                " would arrive in its input " +
                                                printable(watch.input.native()) + " again");
}

/// Results of results of results, without end.
void refuse_loops(const std::vector<Watch>& watches) {
  for (const Watch& first : watches) {
    std::vector<const Watch*> reached{&first};
    for (std::size_t i = 0; i < reached.size(); ++i) {
      for (const Watch& next : watches) {
        if (!feeds(*reached[i], next)) continue;
        if (&next == &first) refuse_loop(first, *reached[i]);
        if (std::find(reached.begin(), reached.end(), &next) == reached.end())
          reached.push_back(&next);
      }
    }
  }
}

namespace fs = std::filesystem;

bool overlap(const fs::path& a, const fs::path& b) {
  return is_or_is_below(a, b) || is_or_is_below(b, a);
}

/// Whether the one's input is in a part of the other's that is looked into.
bool is_input_within(const Watch& inner, const Watch& outer) {
  if (!is_or_is_below(inner.input, outer.input)) return false;
  return std::none_of(outer.exclude.begin(), outer.exclude.end(), [&](const fs::path& excluded) {
    return is_or_is_below(inner.input, outer.input / excluded);
  });
}

/// What one watch takes away, or writes, is not another's.
void refuse_overlaps(const std::vector<Watch>& watches) {
  const auto refuse = [](const Watch& watch, const char* what, const fs::path& a,
                         const fs::path& b) {
    throw FatalError(ExitCode::configuration, watch.place + ": " + what + printable(a.native()) +
                                                  " and " + printable(b.native()) +
                                                  " are within each other");
  };
  for (const Watch& a : watches) {
    for (const Watch& b : watches) {
      if (!b.move_to.empty() && overlap(a.output, b.move_to))
        refuse(b, "results and moved inputs would meet: ", a.output, b.move_to);
      if (&a == &b) continue;
      if (overlap(a.output, b.output)) refuse(a, "the outputs ", a.output, b.output);
      if ((a.after != "keep" || b.after != "keep") && is_input_within(a, b))
        refuse(a, "of the inputs one is taken away: ", a.input, b.input);
    }
  }
}

std::vector<Watch> checked_watches(const settings::Configuration& configuration) {
  std::vector<Watch> watches = settings::watches_of(configuration);
  if (watches.empty())
    throw FatalError(ExitCode::configuration,
                     "nothing to watch: the configuration has no watches (--config says which)");
  refuse_overlaps(watches);
  refuse_loops(watches);
  return watches;
}

/// Three times what lies between two probes of the GPUs, and more than a slow batch takes.
constexpr std::chrono::minutes kLongestStill{3};
constexpr int kUpkeepPatience = 10;           // a quarantine of many files takes its time
constexpr std::chrono::minutes kMaxStart{5};  // of a backend, whose driver has GPUs to wake

/// Few files wait to be loaded, so that one of another folder soon has its turn.
PipelineOptions service_options(const settings::Settings& settings,
                                const std::vector<Watch>& watches) {
  PipelineOptions options = pipeline_options(settings);
  for (const Watch& watch : watches) {
    const std::chrono::seconds decode(watch.settings.limits.decode_s);
    options.limits.decode = std::max(options.limits.decode, decode);
  }
  options.found_capacity = std::size_t(options.load_threads) * 2;
  options.wait_for_space = false;  // an item that finds no space is deferred
  return options;
}

void log(io::Severity severity, const std::string& line) {
  switch (severity) {
    case io::Severity::debug:
      return spdlog::debug("{}", printable_message(line));
    case io::Severity::info:
      return spdlog::info("{}", printable_message(line));
    case io::Severity::warning:
      return spdlog::warn("{}", printable_message(line));
  }
}

}  // namespace

std::vector<std::string> check(const settings::Configuration& configuration) {
  std::vector<std::string> remarks;
  for (const Watch& watch : checked_watches(configuration)) {
    const WatchedFolder checked(watch);
    for (std::string& remark : remarks_on(watch)) remarks.push_back(std::move(remark));
    if (std::string remark = remark_on_made_with_other(watch); !remark.empty())
      remarks.push_back(std::move(remark));
  }
  return remarks;
}

Service::Service(const settings::Configuration& configuration, double last_done_unix_s)
    : configuration_(configuration),
      calibration_(settings::load_calibration(configuration.settings.calibration)),
      last_done_before_unix_s_(last_done_unix_s) {
  const std::vector<Watch> watches = checked_watches(configuration_);
  std::vector<io::WatchSource::Watch> sources;
  for (const Watch& watch : watches) {
    inputs_.push_back(watch.input);
    outputs_.push_back(watch.output);
    spdlog::info("watches {} for {}", printable(watch.input.native()),
                 printable(watch.output.native()));
    WatchedFolder& folder = *folders_.emplace_back(std::make_unique<WatchedFolder>(watch));
    sources.push_back(
        {folder.options(), [&folder](const io::Arrival& arrival, const FileState& state) {
           return folder.wants(arrival, state);
         }});
  }
  source_ = std::make_unique<io::WatchSource>(
      std::move(sources),
      [inputs = inputs_](int watch, io::Severity severity, const std::string& line) {
        const telemetry::LogFields fields({{"ECKART_WATCH", inputs[std::size_t(watch)].native()}});
        log(severity, line);
      });
  pipeline_ = std::make_unique<Pipeline>(
      PipelineParts{.source = *source_,
                    .backend = [this]() -> Backend& { return make_backend_now(); },
                    .claim = [this](WorkItem& item) { folder_of(item).claim(item); },
                    .load = [this](WorkItem& item,
                                   const Reserve& reserve) { folder_of(item).load(item, reserve); },
                    .write = [this](WorkItem& item) { folder_of(item).write(item); },
                    .publish = [this](std::span<ItemPtr> group) { publish(group); },
                    .report = [this](const WorkItem& item) { end(item); },
                    .on_lost = [this](const InFlight::Items& items) { record_lost(items); }},
      service_options(configuration_.settings, watches));
  monitor_ = std::make_unique<Monitor>(
      configuration_.settings, "watch",
      Monitor::Subject{[this] { return pipeline_->snapshot(); }, [this] { return state(); }});
}

telemetry::RunReport Service::execute(const std::function<void()>& ready) {
  ready_ = ready;
  monitor_->begin(true);
  telemetry::RunReport report = pipeline_->run();
  source_->end();  // while whoever asks is still told if one of its threads hangs
  monitor_->end();
  {
    const std::lock_guard lock(error_mutex_);
    if (error_) std::rethrow_exception(error_);
  }
  report.backend_note += "; " + backend_.reason;
  return report;
}

Backend& Service::make_backend_now() {
  const Activity::Scope step(
      activity(), {"making the backend",
                   std::max<std::chrono::seconds>(
                       std::chrono::seconds(configuration_.settings.timeouts.stall_s), kMaxStart)});
  backend_ = make_backend(configuration_.settings, calibration_);
  note_life();
  has_backend_ = true;
  if (ready_) ready_();
  return *backend_.backend;
}

void Service::look_after_folders(const std::stop_token& stop) {
  const Activity::Scope step(
      activity(),
      {"upkeep", kUpkeepPatience * std::chrono::seconds(configuration_.settings.timeouts.stall_s)});
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (take_requeue_note(outputs_[i])) source_->rescan(int(i));
  }
  for (const auto& folder : folders_) {
    if (stop.stop_requested()) return;
    folder->look_after(stop);
  }
}

std::string Service::status_line() const {
  const telemetry::ProgressState progress = pipeline_->progress();
  std::size_t waiting = 0, held_back = 0, missing = 0;
  for (const io::WatchState& state : source_->states()) {
    waiting += state.pending + state.ready;
    held_back += !state.degraded.empty();
    missing += !state.root_is_there;
  }
  std::string line = std::to_string(progress.done - progress.failed - progress.skipped) +
                     " done, " + std::to_string(progress.failed) + " failed, " +
                     std::to_string(progress.total - progress.done) + " in work, " +
                     std::to_string(waiting) + " waiting";
  const std::string of = " of " + std::to_string(folders_.size());
  if (missing > 0) line += "; " + std::to_string(missing) + of + " inputs missing";
  if (held_back > 0) line += "; " + std::to_string(held_back) + of + " watches held back";
  return line;
}

double Service::last_done_unix_s() const {
  return std::max(last_done_before_unix_s_, view().all.last_done_unix_s);
}

std::optional<Activity::Stall> Service::find_stall() {
  if (auto stall = pipeline_->find_stall()) return stall;
  return find_stalled_watch();
}

/// A share that does not answer, in the main. As Activity::check() has it: while the process was
/// stopped nothing has stalled.
std::optional<Activity::Stall> Service::find_stalled_watch() {
  using namespace std::chrono;
  constexpr seconds kMaxTick{5};
  const auto states = source_->states();
  const std::lock_guard lock(watch_ages_mutex_);
  const io::Instant now = steady_clock::now();
  const auto tick =
      std::min<steady_clock::duration>(now - std::exchange(watches_checked_, now), kMaxTick);
  watch_ages_.resize(states.size());
  for (std::size_t i = 0; i < states.size(); ++i) {
    WatchAge& known = watch_ages_[i];
    const io::Instant since = states[i].at_work_since.value_or(io::Instant::max());
    known.age = since == known.since ? known.age + tick : steady_clock::duration(0);
    known.since = since;
    if (since == io::Instant::max() ||
        known.age <= seconds(configuration_.settings.timeouts.stall_s))
      continue;
    return Activity::Stall{"source",
                           {{.file = inputs_[i], .relative = {}, .job = int(i)}},
                           duration_cast<seconds>(known.age)};
  }
  return std::nullopt;
}

void Service::record_stall(const Activity::Stall& stall) {
  for (const Activity::File& file : stall.files) {
    if (!file.relative.empty()) folders_[std::size_t(file.job)]->record_stall(file);
  }
}

telemetry::ServiceState Service::state() {
  using namespace std::chrono;
  telemetry::ServiceState state;
  state.last_done_unix_s = last_done_before_unix_s_;
  if (!has_backend_) state.not_ready.emplace_back("it is starting");
  const auto states = source_->states();
  for (std::size_t i = 0; i < states.size(); ++i) {
    const io::WatchState& watch = states[i];
    const std::string& input = inputs_[i].native();
    const std::string why = !watch.root_is_there ? "it is missing" : watch.degraded;
    if (!why.empty()) state.not_ready.push_back(printable(input) + ": " + printable_message(why));
    state.degraded += !why.empty() || watch.polling;
    state.overflows += watch.overflows;
    state.watches.push_back(
        {input, outputs_[i].native(), std::int64_t(watch.pending + watch.ready), why});
    if (!watch.oldest) continue;
    const duration<double> age = steady_clock::now() - *watch.oldest;
    const double came_unix_s = telemetry::unix_now() - age.count();
    if (state.oldest_waiting_unix_s == 0 || came_unix_s < state.oldest_waiting_unix_s)
      state.oldest_waiting_unix_s = came_unix_s;
  }
  if (const auto stall = find_stall()) {
    state.unhealthy.push_back(to_string(*stall));
    state.not_ready.push_back(to_string(*stall));
  }
  const duration<double> still = steady_clock::now() - last_sign_of_life_.load();
  state.gpus_answer = !has_backend_ || still <= kLongestStill;
  if (!state.gpus_answer)
    state.unhealthy.push_back("nothing has moved for " + std::to_string(int(still.count())) +
                              " s, and no GPU has answered");
  return state;
}

void Service::end_by(std::exception_ptr error) {
  {
    const std::lock_guard lock(error_mutex_);
    error_ = std::move(error);
  }
  request_stop();
}

/// Each watch publishes what is its own.
void Service::publish(std::span<ItemPtr> group) {
  std::stable_sort(group.begin(), group.end(),
                   [](const ItemPtr& a, const ItemPtr& b) { return a->job < b->job; });
  for (std::size_t begin = 0, end = 0; begin < group.size(); begin = end) {
    while (end < group.size() && group[end]->job == group[begin]->job) ++end;
    folder_of(*group[begin]).publish(group.subspan(begin, end - begin));
  }
}

void Service::end(const WorkItem& item) {
  const io::Ending ending = folder_of(item).end(item);
  source_->finished(item.job, item.relative, ending, item.outcome.detail);
}

void Service::record_lost(const InFlight::Items& items) {
  std::map<int, InFlight::Items> by_watch;
  for (const WorkItem* item : items) by_watch[item->job].push_back(item);
  for (const auto& [job, lost] : by_watch) folder_of(*lost.front()).record_lost(lost);
}

}  // namespace eckart::app
