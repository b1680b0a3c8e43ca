// Replaces libeckart_cuda.so with a simulated GPU that computes on the CPU. Environment variables
// control when the GPU is lost:
// - FAKE_GPU_LOST_AT_BATCH=N: all lanes lose it from the N-th batch of the first process on.
// - FAKE_GPU_LOST_EVERY_PROCESS: the same in every process.
// - FAKE_GPU_LOST_ON_SAMPLE=B: each image whose first sample is B loses it.
// - FAKE_GPU_OUT_OF_MEMORY: its memory is full.
// - FAKE_GPU_MISSING_AFTER_RESTART: a restarted process finds no GPU.
// - FAKE_GPU_BUILD_ID=ID: sets the build ID of the module.
// - FAKE_GPU_PLANE_US=N: it computes one plane after the other, each for N microseconds at least.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "build_id/build_id.hpp"
#include "build_id/module_export.hpp"
#include "compute/cpu/cpu_backend.hpp"
#include "compute/out_of_memory.hpp"
#include "core/error.hpp"
#include "core/instant.hpp"

namespace eckart::test {
namespace {

bool is_set(const char* name) { return std::getenv(name) != nullptr; }
int number(const char* name) { return is_set(name) ? std::atoi(std::getenv(name)) : -1; }
bool is_first_process() { return !is_set("ECKART_RESTARTS"); }

/// When the GPU has computed what was started.
class BusyTime {
 public:
  /// Returns when the planes that are started now are computed.
  Instant add(std::size_t planes) {
    const std::chrono::microseconds plane(std::max(number("FAKE_GPU_PLANE_US"), 0));
    const std::lock_guard lock(mutex_);
    until_ = std::max(until_, Clock::now()) + plane * std::int64_t(planes);
    return until_;
  }

 private:
  std::mutex mutex_;
  Instant until_{};
};

class FakeLane : public compute::Lane {
 public:
  FakeLane(std::unique_ptr<compute::Lane> cpu, std::atomic<int>& batches, BusyTime& busy_time)
      : batches_(batches),
        busy_time_(busy_time),
        cpu_(std::move(cpu)),
        done_at_(std::size_t(cpu_->slots())) {}
  int slots() const override { return cpu_->slots(); }

  void start(int slot, const compute::BatchKey& key,
             std::span<compute::Task* const> tasks) override {
    if (is_set("FAKE_GPU_OUT_OF_MEMORY")) throw compute::OutOfMemory("GPU memory is full");
    const int batch = ++batches_;
    lost_ = is_set("FAKE_GPU_LOST_AT_BATCH") && batch >= number("FAKE_GPU_LOST_AT_BATCH") &&
            (is_first_process() || is_set("FAKE_GPU_LOST_EVERY_PROCESS"));
    for (const compute::Task* task : tasks)
      lost_ = lost_ || int(*task->input.data()) == number("FAKE_GPU_LOST_ON_SAMPLE");
    done_at_[std::size_t(slot)] = busy_time_.add(tasks.size());
    cpu_->start(slot, key, tasks);
  }
  void finish(int slot) override {
    cpu_->finish(slot);
    std::this_thread::sleep_until(done_at_[std::size_t(slot)]);
    if (lost_) throw DeviceLostError("CUDA error 719 (unspecified launch failure) from a test");
  }

 private:
  std::atomic<int>& batches_;
  BusyTime& busy_time_;
  bool lost_ = false;
  const std::unique_ptr<compute::Lane> cpu_;
  std::vector<Instant> done_at_;  // by slot
};

class FakeGpu : public compute::Backend {
 public:
  explicit FakeGpu(const compute::BackendOptions& options)
      : cpu_(compute::cpu::make_cpu_backend(options)) {}
  std::string name() const override { return "cuda"; }
  std::string description() const override { return "none, for tests"; }
  std::vector<std::string> details() const override {
    const char* queues = std::getenv("CUDA_DEVICE_MAX_CONNECTIONS");
    return {std::string("queues: ") + (queues ? queues : "not set")};
  }
  int lanes() const override { return cpu_->lanes(); }
  std::vector<std::string> gpu_bus_ids() const override { return {"00000000:01:00.0"}; }
  int batch_planes(const compute::BatchKey&) const override { return 4; }
  std::unique_ptr<compute::Lane> make_lane(int index) override {
    return std::make_unique<FakeLane>(cpu_->make_lane(index), batches_, busy_time_);
  }

 private:
  std::atomic<int> batches_ = 0;
  BusyTime busy_time_;
  const std::unique_ptr<compute::Backend> cpu_;
};

}  // namespace
}  // namespace eckart::test

ECKART_MODULE_EXPORT const char* eckart_cuda_build_id() {
  const char* other = std::getenv("FAKE_GPU_BUILD_ID");
  return other ? other : eckart::build_id();
}

ECKART_MODULE_EXPORT eckart::compute::Backend* eckart_make_cuda_backend(
    const eckart::compute::BackendOptions& options) {
  if (eckart::test::is_set("FAKE_GPU_MISSING_AFTER_RESTART") && !eckart::test::is_first_process())
    throw eckart::FatalError(eckart::ExitCode::unavailable, "no usable CUDA device: none found");
  return std::make_unique<eckart::test::FakeGpu>(options).release();
}
