#include "pipeline/pipeline.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "flow/batch_scheduling.hpp"
#include "flow/pause.hpp"
#include "pipeline/attempt.hpp"
#include "pipeline/batcher.hpp"
#include "pipeline/compute_worker.hpp"
#include "pipeline/found_items.hpp"
#include "text/printable.hpp"

namespace eckart::pipeline {
namespace {

using State = flow::StageClock::State;

// Short queues keep the order of work close to the order of arrival. The budget limits memory.
constexpr std::size_t kLoadedCapacity = 256;
constexpr std::size_t kBatchesCapacity = 2;
constexpr std::size_t kFinishedCapacity = 1024;

constexpr std::chrono::milliseconds kMinQueueTraceInterval{
    5};  // between two samples of the queue sizes

int max_threads(int initial, int max) { return std::max(initial, max); }

/// For one item. A wait for the budget is not part of the step of its thread.
class ItemLoadContext : public LoadContext {
 public:
  /// `backend` is null until it is created.
  ItemLoadContext(flow::Budget& budget, const std::atomic<const compute::Backend*>& backend,
                  InputDecoding& input_decoding, const Tally& tally, Activity::Scope& step,
                  flow::StageClock::Worker& clock, ThreadTrace& trace)
      : budget_(budget),
        backend_(backend),
        input_decoding_(input_decoding),
        tally_(tally),
        step_(step),
        clock_(clock),
        trace_(trace) {}

  flow::Budget::Reservation reserve(std::size_t bytes) override {
    trace_.name_next_wait("waiting for the memory budget");
    return step_.exclude_wait([&] {
      return clock_.measure_wait(State::blocked, [&] { return budget_.reserve(bytes); });
    });
  }
  preparation::Resizer* resizer() override {
    const compute::Backend* backend = backend_;
    return backend ? backend->resizer() : nullptr;
  }
  bool leaves_to_backend(ImageFormat format, const ImageShape& shape, std::size_t bytes) override {
    const compute::Backend* backend = backend_;
    return backend && input_decoding_.prefers_backend(format, backend->decoding_rate(format, shape),
                                                      bytes, tally_.unfinished());
  }
  void add_decoded(ImageFormat format, std::size_t bytes, std::chrono::nanoseconds time) override {
    input_decoding_.add_loaded(format, bytes, time);
  }

 private:
  flow::Budget& budget_;
  const std::atomic<const compute::Backend*>& backend_;
  InputDecoding& input_decoding_;
  const Tally& tally_;
  Activity::Scope& step_;
  flow::StageClock::Worker& clock_;
  ThreadTrace& trace_;
};

}  // namespace

Pipeline::Pipeline(io::Source& source, JobSteps& steps, const PipelineOptions& options)
    : source_(source),
      steps_(steps),
      options_(options),
      budget_(options.budget_bytes),
      found_(options.found_queue_capacity),
      loaded_(kLoadedCapacity),
      finished_(kFinishedCapacity),
      batches_(kBatchesCapacity),
      in_flight_batches_(steps),
      input_decoding_(options.load_threads),
      source_clock_(1, start_),
      load_clock_(options.load_threads, max_threads(options.load_threads, options.max_load_threads),
                  start_),
      batch_clock_(1, start_),
      write_clock_(options.write_threads,
                   max_threads(options.write_threads, options.max_write_threads), start_),
      write_stage_{
          steps_,
          options_,
          finished_,
          tally_,
          meters_,
          activity_,
          SpaceMonitor(options_.wait_for_space, options_.space_poll_interval, stop_.get_token())} {}

telemetry::RunReport Pipeline::run(trace::Trace* trace) {
  using flow::Workers;
  trace_ = trace;
  const Workers::OnFailure on_failure = [this](std::exception_ptr error) {
    abort(std::move(error));
  };

  std::optional<Workers> source, load, batch, compute, write, adaptation;
  std::stop_source adaptation_stop;
  compute::Backend* backend = nullptr;
  try {
    source.emplace(
        to_string(Stage::source), 1, [this](int) { run_source(); }, on_failure);
    load.emplace(
        to_string(Stage::load), options_.load_threads,
        [this](int i, Workers& workers) { run_load(i, workers); }, on_failure);
    write.emplace(
        to_string(Stage::write), options_.write_threads,
        [this](int i, Workers& workers) { run_write(i, workers); }, on_failure);
    adaptation.emplace(
        "adaptation", 1, [&](int) { adapt_threads(*load, *write, adaptation_stop.get_token()); },
        on_failure);
    backend = &steps_.create_backend();
    compute_clock_.emplace(backend->lanes(), start_);
    startup_s_ = std::chrono::duration<double>(Clock::now() - start_).count();
    backend_ = backend;
    compute.emplace(
        to_string(Stage::compute), backend->lanes(), [&](int i) { run_compute(*backend, i); },
        on_failure);
    batch.emplace(
        to_string(Stage::batch), 1, [&](int) { run_batch(*backend); }, on_failure);
  } catch (...) {
    abort(std::current_exception());
  }

  // Drain, from source to sink: a channel is closed after all its producers have ended.
  const auto join = [](std::optional<Workers>& workers) {
    if (workers) workers->join();
  };
  join(source);
  found_.close();
  join(load);
  loaded_.close();
  join(batch);
  batches_.close();
  join(compute);
  finished_.close();
  join(write);
  adaptation_stop.request_stop();
  join(adaptation);

  telemetry::RunReport report = tally_.report();
  report.stopped_by = stopped_by();
  report.ignored = source_.ignored_count();
  const telemetry::ProgressState progress = tally_.progress();
  report.interrupted = !progress.is_total_final || progress.done < progress.total;
  if (!compute_clock_) return report;  // the run ended before the backend was created
  report.backend = backend->name();
  report.backend_details = backend->description();
  report.warnings = backend->warnings();
  for (const compute::SolverChoice& choice : backend->solver_choices()) {
    const compute::BatchWorkload& full = choice.batch;
    report.solvers.push_back({full.shape.rows, full.shape.cols, full.rank, full.planes,
                              to_string(choice.solver), choice.explanation});
  }
  report.stages = stages(read_clocks());
  return report;
}

void Pipeline::request_stop() {
  stop_.request_stop();
  found_.cancel();
  loaded_.cancel();  // may hold minutes of work, up to the whole budget
  budget_.close();   // items that are only decoded still hold it
}

/// Abort, from sink to source, so that no thread waits for queue space or budget that is never
/// released. Finished items are still written.
void Pipeline::abort(std::exception_ptr error) {
  {
    const std::lock_guard lock(error_mutex_);
    if (!error_) error_ = std::move(error);
  }
  finished_.close();
  batches_.cancel();
  loaded_.cancel();
  budget_.close();
  found_.cancel();
  stop_.request_stop();
}

void Pipeline::push(ItemChannel& channel, ItemPtr item, flow::StageClock::Worker& clock) {
  push(channel, std::span(&item, 1), clock);
}

void Pipeline::push(ItemChannel& channel, std::span<ItemPtr> items,
                    flow::StageClock::Worker& clock) {
  if (items.empty()) return;
  const auto now = Clock::now();
  for (const ItemPtr& item : items) item->entered_at = now;
  if (trace_) trace_queue_sizes();
  clock.measure_wait(State::blocked, [&] { channel.push(items); });
}

/// Records the queue sizes and the used budget in the trace, at a limited rate.
void Pipeline::trace_queue_sizes() {
  const auto now = Clock::now();
  auto before = queue_sizes_traced_at_.load();
  const auto at = now.time_since_epoch().count();
  if (at - before < Clock::duration(kMinQueueTraceInterval).count() ||
      !queue_sizes_traced_at_.compare_exchange_strong(before, at))
    return;
  const auto count = [&](const char* name, std::size_t number) {
    trace_->counter(trace::Trace::kHost, name, now, {{"waiting", std::int64_t(number)}});
  };
  count("queue found", found_.size());
  count("queue loaded", loaded_.size());
  count("queue batches", batches_.size());
  count("queue finished", finished_.size());
  trace_->counter(trace::Trace::kHost, "budget", now,
                  {{"bytes", std::int64_t(budget_.used_bytes())}});
}

void Pipeline::run_source() {
  ThreadTrace trace(trace_, Stage::source, 0);
  flow::StageClock::Worker clock(source_clock_, 0, trace.on_wait());
  const std::stop_token stop = stop_.get_token();
  const std::size_t max_group = trace_ ? 1 : kMaxFoundGroup;  // a trace shows each image
  const auto next_arrivals = [&] {  // waits for the file system or the writer of the list
    std::optional<Activity::Scope> step;
    if (!source_.may_block())
      step.emplace(activity_, Activity::Step{to_string(Stage::source), options_.limits.stall});
    return clock.measure_wait(State::waiting_for_input,
                              [&] { return source_.next_group(stop, max_group); });
  };
  for (;;) {
    std::vector<io::SourceItem> arrivals = next_arrivals();
    if (arrivals.empty()) break;
    const auto found_at = Clock::now();
    const auto count = std::int64_t(arrivals.size());
    // On this thread, in order of arrival, so that output names do not depend on thread timing.
    std::vector<ItemPtr> items =
        make_found_items(std::move(arrivals), steps_, tally_, activity_, options_.limits.stall);
    if (trace_) trace.trace_found(*items.front());
    meters_.service(Stage::source).add((Clock::now() - found_at) / count, count);
    const auto failed = std::stable_partition(
        items.begin(), items.end(), [](const ItemPtr& item) { return item->outcome.ok(); });
    const auto ok_count = std::size_t(failed - items.begin());
    items_before_batcher_ += int(ok_count);
    push(found_, std::span(items).first(ok_count), clock);
    push(finished_, std::span(items).subspan(ok_count), clock);
  }
  tally_.set_not_read(source_.unread_files().by_extension());
  log_unread_files();
  if (!stop.stop_requested()) tally_.set_total_final();
}

void Pipeline::log_unread_files() const {
  const std::vector<std::filesystem::path> files = source_.unread_examples();
  for (const std::filesystem::path& file : files)
    spdlog::debug("{}: not read: the extension is not that of an image",
                  text::printable(file.native()));
  const std::int64_t more = source_.unread_files().total() - std::int64_t(files.size());
  if (!files.empty() && more > 0) spdlog::debug("and {} more files that are not read", more);
}

void Pipeline::run_load(int index, flow::Workers& workers) {
  flow::use_batch_scheduling();
  ThreadTrace trace(trace_, Stage::load, index);
  flow::StageClock::Worker clock(load_clock_, index, trace.on_wait());
  while (!workers.leaves(index)) {
    auto popped = clock.measure_wait(State::waiting_for_input, [&] { return found_.pop(); });
    if (!popped) return;
    ItemPtr item = std::move(*popped);
    meters_.found.add(Clock::now() - item->entered_at);
    const auto busy_before = clock.busy_time();
    ThreadTrace::Span span(trace, *item);
    trace.trace_flow(*item);
    {
      Activity::Scope step(
          activity_,
          {to_string(Stage::load), options_.limits.load(*item), {to_activity_file(*item)}});
      ItemLoadContext context(budget_, backend_, input_decoding_, tally_, step, clock, trace);
      load(*item, context, clock, step);
    }
    item->load_time = clock.busy_time() - busy_before;
    span.end([&] { return load_trace_args(*item); });
    if (item->outcome.result != ItemResult::skipped)
      meters_.service(Stage::load).add(item->load_time);
    const bool to_compute = item->outcome.ok() && !item->skips_backend;
    if (!to_compute) --items_before_batcher_;
    ItemChannel& next = to_compute ? loaded_ : finished_;
    push(next, std::move(item), clock);
  }
  clock.leave();
}

/// Loads an item. If no file descriptors are left, waits until writers release some, and tries
/// again.
void Pipeline::load(WorkItem& item, LoadContext& context, flow::StageClock::Worker& clock,
                    Activity::Scope& step) {
  const auto pause = [&] {
    return step.exclude_wait([&] {
      return clock.measure_wait(State::blocked, [&] {
        return flow::pause(options_.space_poll_interval, stop_.get_token());
      });
    });
  };
  for (int tries = 1;; ++tries) {
    try {
      attempt(item.outcome, Stage::load, FailureReason::internal,
              [&] { steps_.load(item, context); });
      if (item.outcome.ok()) item.advance(ItemState::loaded);
      return;
    } catch (const EnvironmentError& error) {
      const bool can_retry = error.remedy() == EnvironmentError::Remedy::release_resources;
      if (!can_retry || tries == options_.max_attempts || !pause()) throw;
      item.task = {};
      item.reservation = {};  // release the bytes before reserving again
    }
  }
}

void Pipeline::run_batch(const compute::Backend& backend) {
  ThreadTrace trace(trace_, Stage::batch, 0);
  flow::StageClock::Worker clock(batch_clock_, 0, trace.on_wait());
  Batcher batcher(backend, options_.pad_multiple, options_.linger);
  const auto now = [] { return Clock::now(); };
  do {
    auto item = clock.measure_wait(State::waiting_for_input, [&] { return pop_loaded(batcher); });
    if (item) {
      --items_before_batcher_;
      const auto popped_at = now();
      meters_.loaded.add(popped_at - (*item)->entered_at);
      (*item)->entered_at = popped_at;
      std::optional<Batch> full;
      {
        const Activity::Scope step(
            activity_,
            {to_string(Stage::batch), options_.limits.stall, {to_activity_file(**item)}});
        full = batcher.add(std::move(*item), popped_at);
      }
      if (full) send(std::move(*full), clock, trace);
    }
    while (auto batch = should_flush_batches() ? batcher.take_any()
                                               : batcher.take_due(now() - extra_linger()))
      send(std::move(*batch), clock, trace);
  } while (!loaded_.is_finished());
  if (stop_.stop_requested()) return;
  while (auto batch = batcher.take_any()) send(std::move(*batch), clock, trace);
}

/// Waits for an item until a batch is due, or until on_batch_taken() ends the wait.
std::optional<ItemPtr> Pipeline::pop_loaded(const Batcher& batcher) {
  const auto due = batcher.next_deadline();
  has_partial_batch_ = due.has_value();  // before extra_linger() reads the number of batches
  return due ? loaded_.pop_for(*due + extra_linger() - Clock::now()) : loaded_.pop();
}

/// While batches wait for a lane, a partial batch fills further at no cost.
std::chrono::milliseconds Pipeline::extra_linger() const {
  return batches_.size() > 0 ? options_.extra_linger : std::chrono::milliseconds(0);
}

/// Called by lanes. If no batch is left, the partial batches of the batch thread may be due.
void Pipeline::on_batch_taken() {
  if (batches_.size() == 0 && has_partial_batch_) loaded_.interrupt();
}

void Pipeline::send(Batch batch, flow::StageClock::Worker& clock, ThreadTrace& trace) {
  batch.entered_at = Clock::now();
  for (const ItemPtr& item : batch.items)
    meters_.service(Stage::batch).add(batch.entered_at - item->entered_at);
  batch.number = ++meters_.batch_count;
  meters_.planes += batch.planes;
  meters_.plane_capacity += batch.plane_capacity;
  if (trace_) {
    trace_queue_sizes();
    trace_->async_span(trace::Trace::kHost, "batch", batch.number, "gathering a batch",
                       batch.items.front()->entered_at, batch.entered_at, trace_args(batch));
  }
  const ThreadTrace::Span span(trace, batch);
  trace.trace_flow(batch, ThreadTrace::Flow::start);
  clock.measure_wait(State::blocked, [&] { return batches_.push(std::move(batch)); });
}

/// Whether partial batches are sent at once: the lanes are idle, and no further item is about to
/// arrive. Otherwise, waiting for a fuller batch costs nothing.
bool Pipeline::should_flush_batches() const {
  return items_before_batcher_ == 0 && batches_.size() == 0 && in_flight_batches_.is_idle();
}

void Pipeline::run_compute(compute::Backend& backend, int index) {
  LaneTrace trace{{trace_, Stage::compute, index}, {trace_, backend.gpu_bus_ids(), index}};
  flow::StageClock::Worker clock(*compute_clock_, index, trace.thread.on_wait());
  // The thread of a GPU lane uses no CPU time while it waits for the GPU, so it has no CPU limit.
  const StepLimits::Duration max_cpu_idle = backend.gpu_bus_ids().empty()
                                                ? StepLimits::Duration(options_.limits.stall)
                                                : StepLimits::Duration();
  std::unique_ptr<compute::Lane> lane = backend.make_lane(index);
  lane->set_stop_token(stop_.get_token());
  ComputeWorker(std::move(lane),
                {batches_, finished_, in_flight_batches_, input_decoding_, meters_, activity_,
                 options_.limits, max_cpu_idle, [this] { on_batch_taken(); }},
                clock, trace)
      .run();
}

void Pipeline::run_write(int index, flow::Workers& workers) {
  flow::use_batch_scheduling();
  ThreadTrace trace(trace_, Stage::write, index);
  flow::StageClock::Worker clock(write_clock_, index, trace.on_wait());
  const bool has_left =
      WriteWorker(write_stage_, clock, trace).run([&] { return workers.leaves(index); });
  if (has_left) clock.leave();
}

/// Returns the message of the EnvironmentError that ended the run; empty if there was no error.
/// Rethrows any other error.
std::string Pipeline::stopped_by() const {
  if (!error_) return {};
  try {
    std::rethrow_exception(error_);
  } catch (const EnvironmentError& error) {
    return error.what();
  }
}

}  // namespace eckart::pipeline
