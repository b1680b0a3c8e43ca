// The background tasks of a service, with fakes: watchdog, stalls, maintenance, GPU probes.
#include "app/service_health.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compute/backend.hpp"
#include "compute/out_of_memory.hpp"
#include "core/error.hpp"
#include "tests/unit/app/fake_service.hpp"

namespace eckart::app {
namespace {

using std::chrono::milliseconds;

class ServiceHealthTest : public testing::Test {
 protected:
  static constexpr HealthIntervals kShort{
      .stall_check = milliseconds(1), .maintenance = milliseconds(1), .gpu_probe = milliseconds(1)};

  void start() {
    health_.emplace(
        service_, manager_, [this](const std::string& why) { events_.add("on_stall: " + why); },
        kShort);
  }
  /// Waits until the service was asked for a stall `checks` more times, and until all answers
  /// except the last were handled.
  void wait_for_stall_checks(int checks) {
    EXPECT_TRUE(events_.wait_for("a: find_stall", events_.count("a: find_stall") + checks));
  }
  /// Returns the exit code of the error that execute() would throw.
  std::optional<ExitCode> error_code() const {
    try {
      if (service_.error()) std::rethrow_exception(service_.error());
    } catch (const FatalError& error) {
      return error.code();
    }
    return std::nullopt;
  }

  EventLog events_;
  FakeServiceManager manager_{events_};
  FakeService service_{"a", events_, FakeService::run_until_stop};
  std::optional<ServiceHealth> health_;
};

TEST_F(ServiceHealthTest, notifies_the_watchdog_and_sets_the_status_while_nothing_stalls) {
  start();
  EXPECT_TRUE(events_.wait_for("manager: watchdog", 3));
  EXPECT_GE(events_.count("manager: status a is well"), 3);
  EXPECT_EQ(error_code(), std::nullopt);
}

TEST_F(ServiceHealthTest, does_not_notify_the_watchdog_during_a_stall) {
  service_.set_stall(kLoadStall);
  start();
  wait_for_stall_checks(5);
  EXPECT_EQ(events_.count("manager: watchdog"), 0);
}

TEST_F(ServiceHealthTest, does_not_notify_the_watchdog_after_a_stall) {
  service_.set_stall(kLoadStall);
  start();
  EXPECT_TRUE(events_.wait_for("a: is stopped"));
  service_.set_stall(std::nullopt);
  wait_for_stall_checks(5);
  EXPECT_EQ(events_.count("manager: watchdog"), 0);
  EXPECT_EQ(events_.count("manager: status a is well"), 0);
}

TEST_F(ServiceHealthTest, stops_the_service_with_a_temporary_error_and_records_a_stall) {
  service_.set_stall(kLoadStall);
  start();
  EXPECT_TRUE(events_.wait_for("a: is stopped"));
  EXPECT_EQ(error_code(), ExitCode::temporary);
  EXPECT_TRUE(events_.wait_for("a: records stall of load"));
  const std::string why = "load has been running for 200 s, longer than its limit";
  EXPECT_EQ(events_.count("on_stall: " + why), 1);
  EXPECT_EQ(events_.count("manager: status stalled: " + why), 1);
}

TEST_F(ServiceHealthTest, maintains_folders_until_it_ends) {
  start();
  EXPECT_TRUE(events_.wait_for("a: maintenance", 3));
  health_.reset();
  EXPECT_EQ(error_code(), std::nullopt);
}

TEST_F(ServiceHealthTest, stops_the_service_with_the_error_of_failed_maintenance) {
  service_.fails_maintenance_ = true;
  start();
  EXPECT_TRUE(events_.wait_for("a: is stopped"));
  EXPECT_EQ(error_code(), ExitCode::io_error);
}

/// A service with a GPU that the test controls.
class GpuHealthTest : public ServiceHealthTest {
 protected:
  enum class Gpu { responds, has_no_memory, is_lost };

  /// Records the event "probe" for each attempt. Copies the input to the output.
  class FakeLane : public compute::Lane {
   public:
    FakeLane(GpuHealthTest& test) : test_(test) {}
    int slots() const override { return 1; }
    void start(int, const compute::BatchKey&, std::span<compute::Task* const> tasks) override {
      const Gpu gpu = test_.gpu_;
      test_.events_.add("probe");
      if (gpu == Gpu::has_no_memory) throw compute::OutOfMemory("other work has it");
      if (gpu == Gpu::is_lost) throw DeviceLostError("CUDA error 719");
      for (compute::Task* task : tasks)
        std::memcpy(task->outputs[0].data(), task->input.data(), task->input.bytes());
    }
    void finish(int) override {}

   private:
    GpuHealthTest& test_;
  };
  class FakeBackend : public compute::Backend {
   public:
    explicit FakeBackend(GpuHealthTest& test) : test_(test) {}
    std::string name() const override { return "cuda"; }
    std::string description() const override { return "for tests"; }
    int lanes() const override { return 1; }
    int batch_planes(const compute::BatchKey&) const override { return 1; }
    std::vector<std::string> gpu_bus_ids() const override {
      return test_.has_gpus_ ? std::vector<std::string>{"00000000:01:00.0"}
                             : std::vector<std::string>();
    }
    compute::FallbackCounts fallback_counts() const override {
      test_.events_.add("counts");
      if (test_.gpu_computes_) ++test_.counts_.gpu_images;
      if (test_.cpu_computes_) ++test_.counts_.cpu_fallback_images;
      return test_.counts_;
    }
    std::unique_ptr<compute::Lane> make_lane(int) override {
      return std::make_unique<FakeLane>(test_);
    }

   private:
    GpuHealthTest& test_;
  };

  void start() {
    service_.backend_ = &backend_;
    ServiceHealthTest::start();
  }
  void wait_for_probes(int probes) {
    EXPECT_TRUE(events_.wait_for("probe", events_.count("probe") + probes));
  }
  std::ptrdiff_t heartbeats() const { return events_.count("a: heartbeat"); }
  void TearDown() override { health_.reset(); }

  std::atomic<Gpu> gpu_ = Gpu::responds;
  std::atomic<bool> has_gpus_ = true, gpu_computes_ = false, cpu_computes_ = false;
  compute::FallbackCounts counts_;  // used by the probe thread
  FakeBackend backend_{*this};
};

TEST_F(GpuHealthTest, is_reported_while_the_gpu_responds) {
  start();
  EXPECT_TRUE(events_.wait_for("a: heartbeat", 3));
  EXPECT_GE(events_.count("probe"), 3) << "before each";
}

TEST_F(GpuHealthTest, is_probed_while_images_are_computed) {
  gpu_computes_ = true;
  start();
  EXPECT_TRUE(events_.wait_for("probe", 3));
}

TEST_F(GpuHealthTest, stops_the_service_after_gpu_loss_while_the_cpu_computes) {
  cpu_computes_ = true;
  gpu_ = Gpu::is_lost;
  start();
  EXPECT_TRUE(events_.wait_for("a: is stopped"));
  EXPECT_EQ(error_code(), ExitCode::temporary);
  EXPECT_EQ(heartbeats(), 0);
}

TEST_F(GpuHealthTest, is_reported_without_free_memory_while_the_gpu_computes) {
  gpu_ = Gpu::has_no_memory;
  gpu_computes_ = true;
  start();
  EXPECT_TRUE(events_.wait_for("a: heartbeat", 3));
}

TEST_F(GpuHealthTest, is_not_reported_without_free_memory_while_only_the_cpu_computes) {
  gpu_ = Gpu::has_no_memory;
  cpu_computes_ = true;
  start();
  wait_for_probes(5);
  EXPECT_EQ(heartbeats(), 0);
}

TEST_F(GpuHealthTest, is_reported_again_when_memory_is_free_again) {
  gpu_ = Gpu::has_no_memory;
  start();
  wait_for_probes(5);
  EXPECT_EQ(heartbeats(), 0);
  gpu_ = Gpu::responds;
  EXPECT_TRUE(events_.wait_for("a: heartbeat"));
}

TEST_F(GpuHealthTest, is_always_reported_for_a_backend_without_gpus) {
  has_gpus_ = false;
  start();
  EXPECT_TRUE(events_.wait_for("a: heartbeat", 3));
  EXPECT_EQ(events_.count("probe"), 0);
}

TEST_F(GpuHealthTest, is_not_reported_before_there_is_a_backend) {
  ServiceHealthTest::start();
  EXPECT_TRUE(events_.wait_for("a: asked for its backend", 3));
  EXPECT_EQ(heartbeats(), 0);
}

}  // namespace
}  // namespace eckart::app
