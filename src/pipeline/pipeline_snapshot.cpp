#include "core/instant.hpp"
#include "pipeline/pipeline.hpp"

namespace eckart::pipeline {

/// Reads the clocks of all stages at nearly one time. A thread that is preempted between two
/// readings gets times that do not add up, so the fastest of a few attempts counts. Nothing but the
/// clocks is read here, to make that rare.
Pipeline::ClockReading Pipeline::read_clocks() const {
  constexpr std::chrono::microseconds kMaxReadTime{500};
  constexpr int kMaxReads = 20;
  const auto read = [](const flow::StageClock& clock) { return clock.times(); };
  ClockReading best;
  auto best_duration = Clock::duration::max();
  for (int i = 0; i < kMaxReads && best_duration > kMaxReadTime; ++i) {
    ClockReading reading{
        Clock::now(),
        {read(source_clock_), read(load_clock_), read(batch_clock_),
         backend_.load() ? read(*compute_clock_) : flow::StageTimes{}, read(write_clock_)}};
    const auto duration = Clock::now() - reading.time;
    if (duration >= best_duration) continue;
    best_duration = duration;
    best = reading;
  }
  return best;
}

std::vector<telemetry::StageStats> Pipeline::stages(const ClockReading& clocks) const {
  std::vector<telemetry::StageStats> rows;
  for (std::size_t i = 0; i < clocks.stages.size(); ++i) {
    const flow::StageTimes& times = clocks.stages[i];
    const telemetry::DurationHistogram service = meters_.service(Stage(i)).read();
    rows.push_back(
        {.stage = Stage(i),
         .workers = times.workers,
         .is_adaptive =
             (Stage(i) == Stage::load && options_.max_load_threads > options_.load_threads) ||
             (Stage(i) == Stage::write && options_.max_write_threads > options_.write_threads),
         .busy_s = times.busy_s,
         .waiting_for_input_s = times.waiting_for_input_s,
         .blocked_s = times.blocked_s,
         .cpu_s = times.cpu_s,
         .images = service.count(),
         .service = service});
  }
  return rows;
}

telemetry::Snapshot Pipeline::snapshot() const {
  telemetry::Snapshot snapshot;
  const ClockReading clocks = read_clocks();
  snapshot.elapsed_s = snapshot.seconds =
      std::chrono::duration<double>(clocks.time - start_).count();
  snapshot.stages = stages(clocks);
  if (const compute::Backend* backend = backend_) {
    snapshot.startup_s = startup_s_;
    snapshot.backend = backend->name();
    snapshot.device = backend->device_name();
    snapshot.gpu_ids = backend->gpu_bus_ids();
    const compute::FallbackCounts counts = backend->fallback_counts();
    snapshot.oom_splits = counts.oom_splits;
    snapshot.cpu_fallback_images = counts.cpu_fallback_images;
  }
  tally_.add_to(snapshot);
  const auto add = [&](const char* name, const auto& channel,
                       const telemetry::DurationRecorder& wait) {
    snapshot.queues.push_back(
        {name, std::int64_t(channel.size()), std::int64_t(channel.capacity()), wait.read()});
  };
  add("found", found_, meters_.found);
  add("loaded", loaded_, meters_.loaded);
  add("batches", batches_, meters_.batches);
  add("finished", finished_, meters_.finished);
  snapshot.end_to_end = meters_.end_to_end.read();
  snapshot.batches = {meters_.batch_count, meters_.planes, meters_.plane_capacity};
  snapshot.budget_bytes = std::int64_t(options_.budget_bytes);
  snapshot.budget_used_bytes = std::int64_t(budget_.used_bytes());
  return snapshot;
}

/// Intended waits end earlier while items are in the pipeline: a batch waits at most the linger
/// time while no other batch waits, and a wait for space or budget depends on a thread that is
/// running. If no thread is running and nothing changed, a wakeup was lost.
std::optional<Activity::Stall> Pipeline::find_stall() {
  if (auto stall = activity_.check()) return stall;
  const auto idle_time = activity_.idle_time();
  const bool may_be_idle = !backend_.load() || stop_.stop_requested() || !missing_space().empty() ||
                           tally_.progress().total == tally_.progress().done;
  if (may_be_idle || idle_time < options_.limits.stall + options_.linger) return std::nullopt;
  return Activity::Stall{.kind = Activity::StallKind::idle,
                         .stage = to_string(find_idle_stage()),
                         .age = std::chrono::duration_cast<std::chrono::seconds>(idle_time)};
}

/// Returns the last stage that images wait for. An image that is in no queue may be held by the
/// load stage, for example until memory is free.
Stage Pipeline::find_idle_stage() const {
  if (finished_.size() > 0) return Stage::write;
  if (batches_.size() > 0) return Stage::compute;
  if (loaded_.size() > 0) return Stage::batch;
  return items_before_batcher_ > 0 ? Stage::load : Stage::compute;
}

}  // namespace eckart::pipeline
