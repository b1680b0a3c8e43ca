#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bench/experiments/devices.hpp"
#include "compute/backend.hpp"
#include "compute/cpu/cpu_backend.hpp"

namespace eckart::bench {

/// What a fake GPU does besides computing on the CPU.
struct FakeBackendOptions {
  bool is_wrong = false;                 ///< the first row of each image is wrong
  bool is_too_small = false;             ///< no batch fits
  int planes = 3;                        ///< in a batch
  std::string error = {};                ///< of each image
  std::array<int, 2>* starts = nullptr;  ///< counts the batches of each slot
};

/// Computes on the CPU in batches, and says that it needed 1 us for each.
class FakeLane : public compute::Lane {
 public:
  FakeLane(std::unique_ptr<compute::Lane> cpu, FakeBackendOptions options)
      : cpu_(std::move(cpu)), options_(std::move(options)) {}
  int slots() const override { return 2; }
  void start(int slot, const compute::BatchKey& key,
             std::span<compute::Task* const> tasks) override {
    if (options_.is_too_small) throw compute::OutOfMemory("no memory for 3 GiB");
    if (int(tasks.size()) > options_.planes) throw std::logic_error("the batch is too large");
    for (compute::Task* task : tasks) {
      cpu_->start(0, key, std::span(&task, 1));
      cpu_->finish(0);
      for (int col = 0; options_.is_wrong && col < task->input.shape().cols; ++col)
        task->outputs.front().data()[col] ^= std::byte{128};
      if (!options_.error.empty()) task->error = options_.error;
    }
    const auto begin = compute::DeviceSpan::Time(std::chrono::microseconds(2 * spans_++));
    taken_.push_back({.kind = compute::DeviceSpan::compute,
                      .planes = int(tasks.size()),
                      .is_recompute = false,
                      .begin = begin,
                      .end = begin + std::chrono::microseconds(1),
                      .clock_error = {}});
    if (options_.starts) ++options_.starts->at(std::size_t(slot));
    if (is_busy_.at(std::size_t(slot))) throw std::logic_error("the slot is not free");
    is_busy_[std::size_t(slot)] = true;
  }
  void finish(int slot) override { is_busy_.at(std::size_t(slot)) = false; }
  std::vector<compute::DeviceSpan> take_spans() override { return std::exchange(taken_, {}); }

 private:
  std::unique_ptr<compute::Lane> cpu_;
  const FakeBackendOptions options_;
  std::vector<bool> is_busy_ = {false, false};
  std::vector<compute::DeviceSpan> taken_;
  int spans_ = 0;
};

class FakeBackend : public compute::Backend {
 public:
  FakeBackend(const compute::BackendOptions& backend, FakeBackendOptions options)
      : cpu_(compute::cpu::make_cpu_backend(backend)), options_(std::move(options)) {}
  std::string name() const override { return "fake"; }
  std::string description() const override { return "fake"; }
  int lanes() const override { return 1; }
  int batch_planes(const compute::BatchKey& /*key*/) const override { return options_.planes; }
  std::unique_ptr<compute::Lane> make_lane(int index) override {
    return std::make_unique<FakeLane>(cpu_->make_lane(index), options_);
  }

 private:
  std::unique_ptr<compute::Backend> cpu_;
  const FakeBackendOptions options_;
};

/// Adds the CPU with two lanes, and a fake GPU.
inline Devices with_backends(Devices devices, const FakeBackendOptions& gpu = {}) {
  devices.make_cpu_backend = [](compute::BackendOptions options) {
    if (options.lanes == 0) options.lanes = 2;
    return compute::cpu::make_cpu_backend(options);
  };
  devices.make_gpu_backend = [gpu](const compute::BackendOptions& options) {
    return std::make_unique<FakeBackend>(options, gpu);
  };
  return devices;
}

}  // namespace eckart::bench
