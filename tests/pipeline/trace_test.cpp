// Tests the trace of a pipeline: the flow of each image and batch, in order of time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <set>

#include "core/error.hpp"
#include "tests/pipeline/fakes.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/trace_reader.hpp"
#include "tests/support/waiting_thread.hpp"

namespace eckart::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::StartsWith;

/// A backend whose device reports spans with slightly wrong times.
class DeviceBackend : public FakeBackend {
 public:
  std::vector<std::string> gpu_bus_ids() const override { return {"00000000:3B:00.0"}; }
  std::unique_ptr<compute::Lane> make_lane(int) override;
};

class DeviceLane : public FakeLane {
 public:
  using FakeLane::FakeLane;
  void finish(int slot) override {
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::microseconds wrong(50), error(60);
    FakeLane::finish(slot);
    for (const auto kind : {compute::DeviceSpan::copy_in, compute::DeviceSpan::compute,
                            compute::DeviceSpan::copy_out})
      spans_.push_back({kind, 1, false, now - wrong, now + wrong, error});
  }
  std::vector<compute::DeviceSpan> take_spans() override { return std::exchange(spans_, {}); }

 private:
  std::vector<compute::DeviceSpan> spans_;
};

std::unique_ptr<compute::Lane> DeviceBackend::make_lane(int) {
  return std::make_unique<DeviceLane>(*this);
}

class PipelineTraceTest : public ::testing::Test {
 protected:
  telemetry::RunReport run() {
    trace::Trace trace(file());
    return harness_.pipeline().run(&trace);
  }
  std::filesystem::path file() const { return folder_.path() / "t.json"; }
  static std::int64_t sum(const std::vector<TraceReader::Span>& spans, const char* arg) {
    std::int64_t all = 0;
    for (const auto& span : spans) all += span.args.value(arg, std::int64_t(0));
    return all;
  }

  const TempFolder folder_;
  PipelineHarness harness_;
};

TEST_F(PipelineTraceTest, has_the_path_of_each_image_from_source_to_disk) {
  harness_.backend.planes = 3;
  harness_.backend.lane_count = 2;
  ASSERT_EQ(run().done, 20);
  const TraceReader trace(file());
  trace.expect_properly_nested();
  EXPECT_THAT(trace.thread_names(), ElementsAre("source", "load 0", "load 1", "batch", "compute 0",
                                                "compute 1", "write 0", "write 1"));
  std::set<std::string> names;
  for (const auto& span : trace.spans("load")) names.insert(span.name);
  EXPECT_EQ(names.size(), 20U);
  for (int image = 1; image <= 20; ++image) {
    EXPECT_THAT(trace.flow_path("image", image),
                ElementsAre("source", "load", "batch", "compute", "write", "write"))
        << image;
  }
  const auto batches = trace.spans("batch");
  EXPECT_GE(batches.size(), 7U);
  for (std::size_t batch = 1; batch <= batches.size(); ++batch)
    EXPECT_THAT(trace.flow_path("batch", std::int64_t(batch)),
                ElementsAre("batch", "compute", "compute"));
  EXPECT_EQ(trace.spans("compute").size(), 2 * batches.size()) << "start and finish";
  EXPECT_EQ(sum(trace.spans("compute"), "images"), 2 * 20);
  EXPECT_EQ(sum(trace.spans("write", "publish"), "images"), 20);
  EXPECT_EQ(trace.count("b", "batch"), int(batches.size()));
  EXPECT_GT(trace.count("C", "counter"), 0);
}

TEST_F(PipelineTraceTest, has_device_spans_within_the_batch) {
  DeviceBackend backend;
  harness_.make_backend = [&]() -> compute::Backend& { return backend; };
  ASSERT_EQ(run().done, 20);
  const TraceReader trace(file());
  trace.expect_properly_nested();
  EXPECT_THAT(trace.thread_names(),
              IsSupersetOf({"lane 0 copy in", "lane 0 compute", "lane 0 copy out"}));
  EXPECT_EQ(trace.process_names().at(2), "GPU 00000000:3B:00.0");
  EXPECT_EQ(trace.spans("device").size(), 3 * 20U);
  for (const auto& span : trace.spans("device")) {
    const auto host = trace.spans("compute", span.name);
    ASSERT_EQ(host.size(), 2U) << "start and finish of " << span.name;
    EXPECT_GE(span.begin_ns, host[0].begin_ns);
    EXPECT_LE(span.end_ns, host[1].end_ns);
    EXPECT_EQ(span.args.at("clock_error_us"), 60);
  }
  for (int batch = 1; batch <= 20; ++batch) {
    const auto path = trace.flow_path("batch", batch);
    EXPECT_EQ(std::count(path.begin(), path.end(), "device"), 3);
    EXPECT_EQ(path.back(), "compute");
  }
}

TEST_F(PipelineTraceTest, marks_failed_and_skipped_images) {
  harness_.outcome_of_load = [](int number) {
    if (number == 3) return Outcome::failed(Stage::load, FailureReason::corrupt, "not whole");
    if (number == 4)
      return Outcome{ItemResult::skipped, Stage::load, FailureReason::none, "done before"};
    return Outcome();
  };
  harness_.backend.error_of = [](int number) { return number == 5 ? "did not converge" : ""; };
  run();
  const TraceReader trace(file());
  trace.expect_properly_nested();
  EXPECT_THAT(trace.flow_path("image", 4), ElementsAre("source", "load", "write", "write"));
  for (const char* stage : {"load", "write"}) {
    EXPECT_EQ(trace.spans(stage, "3").at(0).args.at("result"), "failed");
    EXPECT_EQ(trace.spans(stage, "3").at(0).args.at("reason"), "corrupt");
    EXPECT_EQ(trace.spans(stage, "3").at(0).args.at("detail"), "not whole");
    EXPECT_EQ(trace.spans(stage, "4").at(0).args.at("result"), "skipped");
    EXPECT_FALSE(trace.spans(stage, "6").at(0).args.contains("result"));
  }
  EXPECT_EQ(trace.spans("write", "5").at(0).args.at("reason"), "not converged");
  EXPECT_EQ(sum(trace.spans("compute"), "images_failed"), 1);
}

TEST_F(PipelineTraceTest, shows_waits) {
  harness_.options.budget_bytes = 2 * kSmall.bytes();  // for one image
  harness_.options.load_threads = 1;
  std::atomic<long> loader = 0;
  std::atomic<int> asked = 0;
  harness_.on_load = [&](int number) {
    loader = ::gettid();
    asked = number;
  };
  harness_.on_write = [&](int number) {
    if (number + 1 == harness_.images) return;
    wait_until([&] { return asked > number && is_asleep(loader); });
  };
  run();
  const TraceReader trace(file());
  trace.expect_properly_nested();
  EXPECT_GT(trace.spans("wait", "waiting for the memory budget").size(), 5U);
}

TEST_F(PipelineTraceTest, is_complete_after_a_stop_or_an_error) {
  harness_.images = 10000;
  harness_.on_write = [&](int number) {
    if (number == 200) harness_.pipeline().request_stop();
  };
  EXPECT_TRUE(run().interrupted);
  TraceReader(file()).expect_properly_nested();

  PipelineHarness other;
  other.backend.on_start = [](int number) {
    if (number == 7) throw FatalError(ExitCode::internal, "on purpose");
  };
  {
    trace::Trace trace(file());
    EXPECT_THROW(other.pipeline().run(&trace), FatalError);
  }
  const TraceReader trace(file());
  trace.expect_properly_nested();
  EXPECT_FALSE(trace.spans("load").empty());
}

TEST_F(PipelineTraceTest, shows_a_batch_that_did_not_start) {
  harness_.backend.on_start = [](int number) {
    if (number == 7) throw std::runtime_error("on purpose");
  };
  EXPECT_EQ(run().failed, 1);
  const TraceReader trace(file());
  trace.expect_properly_nested();
  EXPECT_EQ(trace.spans("write", "7").at(0).args.at("reason"), "compute failed");
  std::vector<std::string> steps;
  for (const auto& span : trace.spans("compute")) steps.push_back(span.args.at("step"));
  EXPECT_EQ(std::count(steps.begin(), steps.end(), "start, failed"), 1);
  EXPECT_THAT(trace.flow_path("image", 8),
              ElementsAre("source", "load", "batch", "compute", "write", "write"));
}

}  // namespace
}  // namespace eckart::test
