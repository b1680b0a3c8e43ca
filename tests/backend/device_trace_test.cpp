// The device spans that a lane reports, and the concurrency of a GPU's engines.
#include <chrono>

#include "core/instant.hpp"
#include "synth/synth.hpp"
#include "tests/backend/backend_fixture.hpp"
#include "tests/support/overlap.hpp"

namespace eckart::test {
namespace {

using std::chrono::nanoseconds;

// Allowed difference of the two clocks, in addition to DeviceSpan::clock_error.
constexpr std::chrono::microseconds kTolerance{200};

double ms(Clock::duration time) { return std::chrono::duration<double, std::milli>(time).count(); }

class DeviceTraceTest : public BackendTest {
 protected:
  struct TimedBatch {
    std::vector<compute::Task> tasks;
    Instant started, finished;
    std::vector<compute::DeviceSpan> spans;
  };

  bool has_device_clock() const { return GetParam().backend == settings::BackendChoice::cuda; }
  std::unique_ptr<compute::Backend> make_traced(int batch_planes) {
    compute::BackendOptions options;
    options.solver = GetParam().solver;
    options.deterministic = GetParam().deterministic;
    options.batch_planes = batch_planes;
    options.trace = true;
    return app::make_backend(GetParam().backend, options, 1).backend;
  }

  static std::vector<compute::Task> make_tasks(int count, int rows, int cols, int rank) {
    std::vector<compute::Task> tasks;
    const Image image =
        synth::synthesize({.kind = synth::SynthKind::texture, .rows = rows, .cols = cols});
    for (int i = 0; i < count; ++i) tasks.push_back(make_task(image, {rank}));
    return tasks;
  }
  static void start(compute::Lane& lane, int slot, TimedBatch& batch) {
    std::vector<compute::Task*> tasks;
    for (compute::Task& task : batch.tasks) tasks.push_back(&task);
    batch.started = Clock::now();
    lane.start(slot, compute::batch_key(batch.tasks.front(), 32), tasks);
  }
  static void finish(compute::Lane& lane, int slot, TimedBatch& batch) {
    lane.finish(slot);
    batch.finished = Clock::now();
    batch.spans = lane.take_spans();
    for (const compute::Task& task : batch.tasks) EXPECT_EQ(task.error, "");
  }
  /// Keeps all slots full, like the pipeline.
  static void compute(compute::Lane& lane, std::vector<TimedBatch>& batches) {
    const int slots = lane.slots(), count = int(batches.size());
    for (int i = 0; i < count + slots; ++i) {
      const auto before = std::size_t(i - slots);
      if (i >= slots) finish(lane, i % slots, batches[before]);
      if (i < count) start(lane, i % slots, batches[std::size_t(i)]);
    }
  }

  static const compute::DeviceSpan* find(const std::vector<compute::DeviceSpan>& spans,
                                         compute::DeviceSpan::Kind kind) {
    const auto found =
        std::find_if(spans.begin(), spans.end(),
                     [&](const compute::DeviceSpan& span) { return span.kind == kind; });
    return found == spans.end() ? nullptr : &*found;
  }
};

TEST_P(DeviceTraceTest, reports_no_spans_unless_enabled) {
  const auto backend = make(4);
  const auto lane = backend->make_lane(0);
  TimedBatch batch{make_tasks(4, 64, 48, 5), {}, {}, {}};
  start(*lane, 0, batch);
  finish(*lane, 0, batch);
  EXPECT_TRUE(batch.spans.empty());
}

TEST_P(DeviceTraceTest, reports_spans_between_start_and_finish) {
  constexpr int kPlanes = 4;
  const auto backend = make_traced(kPlanes);
  const auto lane = backend->make_lane(0);
  std::vector<TimedBatch> batches;
  for (int i = 0; i < 6; ++i) batches.push_back({make_tasks(kPlanes, 96, 64, 5), {}, {}, {}});
  compute(*lane, batches);
  EXPECT_TRUE(lane->take_spans().empty()) << "spans are returned once";
  for (const TimedBatch& batch : batches) {
    if (!has_device_clock()) {
      EXPECT_TRUE(batch.spans.empty());
      continue;
    }
    for (const compute::DeviceSpan& span : batch.spans) {
      const nanoseconds tolerance = span.clock_error + kTolerance;
      EXPECT_LE(span.begin, span.end);
      EXPECT_GE(span.begin, batch.started - tolerance)
          << ms(batch.started - span.begin) << " ms before";
      EXPECT_LE(span.end, batch.finished + tolerance)
          << ms(span.end - batch.finished) << " ms after";
      EXPECT_GT(span.clock_error.count(), 0);
      EXPECT_LT(ms(span.clock_error), 1);
    }
    const compute::DeviceSpan* in = find(batch.spans, compute::DeviceSpan::copy_in);
    const compute::DeviceSpan* computed = find(batch.spans, compute::DeviceSpan::compute);
    const compute::DeviceSpan* out = find(batch.spans, compute::DeviceSpan::copy_out);
    ASSERT_TRUE(in && computed && out);
    EXPECT_LE(in->end, computed->begin);
    EXPECT_LE(computed->end, out->begin);
    EXPECT_EQ(in->planes, kPlanes);
    EXPECT_EQ(computed->planes, kPlanes);
  }
}

TEST_P(DeviceTraceTest, marks_recomputed_planes) {
  const auto backend = make_traced(4);
  const auto lane = backend->make_lane(0);
  TimedBatch batch{make_tasks(3, 96, 64, 5), {}, {}, {}};
  Image flat({96, 64, 1,
              Depth::u8});  // rank 1: the remaining error is rounding, so float32 cannot certify it
  std::fill_n(flat.data(), flat.bytes(), std::byte(77));
  batch.tasks.push_back(make_task(flat, {5}));
  start(*lane, 0, batch);
  finish(*lane, 0, batch);
  if (!has_device_clock()) return;
  int planes_recomputed = 0, recompute_spans = 0;
  for (const compute::Task& task : batch.tasks)
    planes_recomputed += task.results[0][0].is_recomputed;
  for (const compute::DeviceSpan& span : batch.spans) {
    if (span.kind != compute::DeviceSpan::compute || !span.is_recompute) continue;
    ++recompute_spans;
    EXPECT_GE(span.planes, 1);
  }
  EXPECT_EQ(recompute_spans > 0, planes_recomputed > 0)
      << recompute_spans << " spans, " << planes_recomputed << " planes";
}

/// One lane copies while another computes. (Within one lane the engines need not overlap: the GPU
/// finishes before the host has packed the next batch, or, with gram, makes the host wait.)
TEST_P(DeviceTraceTest, shows_gpu_engines_running_concurrently) {
  if (!has_device_clock() || GetParam().solver != SolverKind::gram)
    GTEST_SKIP() << "needs a GPU and the gram solver";
  constexpr int kBatches = 6, kPlanes = 4, kLanes = 2;
  const auto backend = make_traced(kPlanes);
  std::vector<std::vector<TimedBatch>> batches(kLanes);
  std::vector<std::thread> threads;
  for (std::vector<TimedBatch>& of_lane : batches) {
    for (int i = 0; i < kBatches; ++i)
      of_lane.push_back({make_tasks(kPlanes, 1024, 1024, 20), {}, {}, {}});
  }
  for (int i = 0; i < kLanes; ++i) {
    // all on one GPU
    threads.emplace_back([&, i] { compute(*backend->make_lane(0), batches[std::size_t(i)]); });
  }
  for (std::thread& thread : threads) thread.join();

  std::vector<BusySpan> busy;
  for (const std::vector<TimedBatch>& of_lane : batches) {
    const compute::DeviceSpan* before = nullptr;
    for (const TimedBatch& batch : of_lane) {
      for (const compute::DeviceSpan& span : batch.spans)
        busy.push_back({BusySpan::Engine(span.kind), ms(span.begin.time_since_epoch()),
                        ms(span.end.time_since_epoch())});
      const compute::DeviceSpan* compute = find(batch.spans, compute::DeviceSpan::compute);
      ASSERT_TRUE(compute);
      if (before) {
        EXPECT_LE(before->end, compute->begin + kTolerance) << "batches of a lane must not overlap";
      }
      before = compute;
    }
  }
  const Overlap overlap = measure_overlap(busy, ms(batches[0][1].started.time_since_epoch()),
                                          ms(batches[0].back().finished.time_since_epoch()));
  EXPECT_GT(overlap.copying_while_computing, 0);
  RecordProperty("copying_while_computing", std::to_string(overlap.copying_while_computing));
  RecordProperty("idle", std::to_string(overlap.idle));
}

INSTANTIATE_TEST_SUITE_P(All, DeviceTraceTest, ::testing::ValuesIn(all_configs()), config_name);

}  // namespace
}  // namespace eckart::test
