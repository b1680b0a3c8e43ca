#include "bench/staged_run.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "app/pipeline_options.hpp"
#include "bench/steady_pass.hpp"
#include "core/instant.hpp"
#include "pipeline/attempt.hpp"
#include "pipeline/batcher.hpp"
#include "pipeline/compute_worker.hpp"
#include "pipeline/found_items.hpp"
#include "pipeline/load.hpp"
#include "pipeline/thread_trace.hpp"
#include "pipeline/write_worker.hpp"
#include "settings/calibration.hpp"

namespace eckart::bench {
namespace {

constexpr std::size_t kNoLimit = 1 << 24;  // of a queue; its users push all items before they pop
constexpr std::chrono::milliseconds kStopInterval{50};  // between two looks at the stop request

Rate& of(StageRates& rates, Stage stage) { return rates[std::size_t(stage)]; }

/// A stage alone has all cores: where a run adapts its threads, it has one for each.
pipeline::PipelineOptions options_of_stages_alone(const settings::Settings& settings) {
  pipeline::PipelineOptions options = app::pipeline_options(settings);
  if (options.max_load_threads > options.load_threads)
    options.load_threads = std::max(options.load_threads, options.cores);
  if (options.max_write_threads > options.write_threads)
    options.write_threads = std::max(options.write_threads, options.cores);
  return options;
}

}  // namespace

class StagedRun::LoadContext : public pipeline::LoadContext {
 public:
  LoadContext(flow::Budget& budget, const compute::Backend& backend, bool leaves_inputs_to_backend)
      : budget_(budget), backend_(backend), leaves_inputs_to_backend_(leaves_inputs_to_backend) {}
  flow::Budget::Reservation reserve(std::size_t bytes) override { return budget_.reserve(bytes); }
  preparation::Resizer* resizer() override { return backend_.resizer(); }
  bool leaves_to_backend(ImageFormat format, const ImageShape& shape,
                         std::size_t /*bytes*/) override {
    return leaves_inputs_to_backend_ && backend_.decoding_rate(format, shape).max_images > 0;
  }

 private:
  flow::Budget& budget_;
  const compute::Backend& backend_;
  const bool leaves_inputs_to_backend_;
};

StagedRun::StagedRun(const settings::Settings& settings, const std::filesystem::path& input,
                     const std::filesystem::path& output, bool leaves_inputs_to_backend,
                     const std::stop_token& stop)
    : options_(options_of_stages_alone(settings)),
      leaves_inputs_to_backend_(leaves_inputs_to_backend),
      stop_(stop),
      job_({.settings = settings, .inputs = {input}, .files_from = {}, .output = output}),
      source_(io::make_source(input)),
      backend_(app::make_backend(settings, settings::load_calibration(settings.calibration))),
      budget_(std::numeric_limits<std::size_t>::max()),
      in_flight_batches_(static_cast<pipeline::JobSteps&>(*this)),
      input_decoding_(options_.load_threads),
      batches_(kNoLimit),
      computed_(kNoLimit),
      compute_clock_(backend_.backend->lanes()) {
  job_.prepare();
  lanes_.emplace(
      to_string(Stage::compute), backend_.backend->lanes(), [this](int index) { run_lane(index); },
      [this](std::exception_ptr error) {
        const std::lock_guard lock(error_mutex_);
        if (!error_) error_ = std::move(error);
        has_failed_ = true;
      });
}

StagedRun::~StagedRun() { batches_.cancel(); }

void StagedRun::run_lane(int index) {
  pipeline::LaneTrace trace{{nullptr, Stage::compute, index}, {nullptr, {}, index}};
  flow::StageClock::Worker clock(compute_clock_, index);
  std::unique_ptr<compute::Lane> lane = backend_.backend->make_lane(index);
  lane->set_stop_token(stop_);
  pipeline::ComputeWorker(std::move(lane),
                          {batches_,
                           computed_,
                           in_flight_batches_,
                           input_decoding_,
                           meters_,
                           activity_,
                           options_.limits,
                           {}},
                          clock, trace)
      .run();
}

void StagedRun::rethrow_error() {
  const std::lock_guard lock(error_mutex_);
  if (error_) std::rethrow_exception(error_);
}

StageRates StagedRun::pass(std::size_t images) {
  StageRates rates;
  Items items = compute_next(images, rates);
  of(rates, Stage::write) = write(std::move(items));
  return rates;
}

StagedRun::Encoding StagedRun::encode_next(std::size_t images) {
  StageRates rates;
  Items items = compute_next(images, rates);
  std::erase_if(items, [](const pipeline::ItemPtr& item) { return !item->outcome.ok(); });
  Encoding encoding;
  std::vector<std::vector<std::size_t>> sizes(items.size());
  std::atomic<std::size_t> next{0};
  encoding.rate = measure_on_threads(options_.write_threads, std::int64_t(items.size()), [&](int) {
    for (std::size_t i = next++; i < items.size() && !stop_.stop_requested(); i = next++) {
      pipeline::WorkItem& item = *items[i];
      pipeline::attempt(item.outcome, Stage::write, FailureReason::internal, [&] {
        for (const auto& file : job_.encode(item)) sizes[i].push_back(file.size());
      });
    }
  });
  for (const std::vector<std::size_t>& of_image : sizes)
    encoding.file_sizes.insert(encoding.file_sizes.end(), of_image.begin(), of_image.end());
  return encoding;
}

StagedRun::Items StagedRun::compute_next(std::size_t images, StageRates& rates) {
  Items items;
  of(rates, Stage::source) = measure_work([&] { items = find(images); });
  of(rates, Stage::source).count = std::int64_t(items.size());
  load(items, of(rates, Stage::load));
  if (!items.empty()) bytes_per_image_ = budget_.used_bytes() / items.size();
  std::vector<pipeline::Batch> batches;
  const std::size_t loaded = items.size();
  of(rates, Stage::batch) = measure_work([&] { batches = make_batches(items); });
  of(rates, Stage::batch).count = std::int64_t(loaded - items.size());
  for (pipeline::ItemPtr& item : compute(std::move(batches), of(rates, Stage::compute)))
    items.push_back(std::move(item));
  return items;
}

/// As the source of a pipeline.
StagedRun::Items StagedRun::find(std::size_t images) {
  Items items;
  items.reserve(images);
  while (items.size() < images) {
    auto arrivals =
        source_->next_group(stop_, std::min(pipeline::kMaxFoundGroup, images - items.size()));
    if (arrivals.empty()) break;
    for (pipeline::ItemPtr& item : pipeline::make_found_items(std::move(arrivals), *this, tally_,
                                                              activity_, options_.limits.stall))
      items.push_back(std::move(item));
  }
  return items;
}

void StagedRun::load(Items& items, Rate& rate) {
  std::atomic<std::size_t> next{0};
  rate = measure_on_threads(options_.load_threads, std::int64_t(items.size()), [&](int) {
    LoadContext context(budget_, *backend_.backend, leaves_inputs_to_backend_);
    for (std::size_t i = next++; i < items.size() && !stop_.stop_requested(); i = next++) {
      pipeline::WorkItem& item = *items[i];
      if (!item.outcome.ok()) continue;
      const pipeline::Activity::Scope step(
          activity_,
          {to_string(Stage::load), options_.limits.load(item), {pipeline::to_activity_file(item)}});
      pipeline::attempt(item.outcome, Stage::load, FailureReason::internal,
                        [&] { job_.load(item, context); });
      if (item.outcome.ok()) item.advance(pipeline::ItemState::loaded);
    }
  });
  if (stop_.stop_requested()) items.clear();
}

/// Leaves the items that the backend does not compute.
std::vector<pipeline::Batch> StagedRun::make_batches(Items& items) {
  std::vector<pipeline::Batch> batches;
  pipeline::Batcher batcher(*backend_.backend, options_.pad_multiple, options_.linger);
  Items others;
  for (pipeline::ItemPtr& item : items) {
    if (!item->outcome.ok() || item->skips_backend)
      others.push_back(std::move(item));
    else if (auto full = batcher.add(std::move(item), Clock::now()))
      batches.push_back(std::move(*full));
  }
  while (auto rest = batcher.take_any()) batches.push_back(std::move(*rest));
  items = std::move(others);
  return batches;
}

/// A lane drops the items that it cancels after a stop request.
StagedRun::Items StagedRun::compute(std::vector<pipeline::Batch> batches, Rate& rate) {
  std::size_t expected = 0;
  for (const pipeline::Batch& batch : batches) expected += batch.items.size();
  Items items;
  items.reserve(expected);
  SteadyPass steady(expected, batches.empty() ? 0 : batches.front().items.size());
  rate = measure_work([&] {
    for (pipeline::Batch& batch : batches) {
      batch.entered_at = Clock::now();
      batches_.push(std::move(batch));
    }
    while (items.size() < expected && !stop_.stop_requested() && !has_failed_) {
      auto item = computed_.pop_for(kStopInterval);
      if (!item) continue;
      items.push_back(std::move(*item));
      steady.observe(Clock::now(), items.size() + computed_.size(), batches_.size() > 0);
    }
  });
  rate.count = std::int64_t(expected);
  rate.wall_s = steady.seconds(rate.wall_s);
  rethrow_error();
  if (stop_.stop_requested()) items.clear();
  return items;
}

/// As the writers of a pipeline.
Rate StagedRun::write(Items items) {
  pipeline::ItemChannel finished(kNoLimit);
  const auto count = std::int64_t(items.size());
  for (pipeline::ItemPtr& item : items) {
    item->entered_at = Clock::now();
    finished.push(std::move(item));
  }
  finished.close();
  const std::stop_callback cancel(stop_, [&] { finished.cancel(); });
  flow::StageClock write_clock(options_.write_threads);
  pipeline::WriteStage stage{static_cast<pipeline::JobSteps&>(*this),
                             options_,
                             finished,
                             tally_,
                             meters_,
                             activity_,
                             pipeline::SpaceMonitor(false, options_.space_poll_interval, stop_)};
  return measure_on_threads(options_.write_threads, count, [&](int index) {
    pipeline::ThreadTrace trace(nullptr, Stage::write, index);
    flow::StageClock::Worker clock(write_clock, index);
    pipeline::WriteWorker(stage, clock, trace).run();
  });
}

}  // namespace eckart::bench
