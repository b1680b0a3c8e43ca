#pragma once

#include <unistd.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bench/cpu/cpu_batch.hpp"
#include "bench/cpu/cpu_device.hpp"
#include "bench/experiments/devices.hpp"
#include "compute/out_of_memory.hpp"

namespace eckart::bench {

/// Computes with the loops of the CPU, and says that it took a given time.
class FakeOperation : public PreparedOperation {
 public:
  FakeOperation(std::unique_ptr<PreparedOperation> cpu, std::vector<Variant> variants)
      : cpu_(std::move(cpu)), variants_(std::move(variants)) {}
  const std::vector<Variant>& variants() const override { return variants_; }
  CallTimes run(std::size_t variant) override {
    if (variants_[variant].name == "slow") throw std::logic_error("it must not be run");
    return {.compute_s = 1e-9, .copy_in_s = 2e-9, .copy_out_s = 3e-9, .total_s = 6e-9};
  }
  Result result(std::size_t variant) override {
    Result result = cpu_->result(0);
    result.compute_s = variants_[variant].name == "slow" ? 1e6 : 1e-9;
    if (variants_[variant].name == "wrong") std::get<std::vector<float>>(result.values)[0] += 1;
    return result;
  }

 private:
  std::unique_ptr<PreparedOperation> cpu_;
  std::vector<Variant> variants_;
};

inline constexpr Ceilings kCeilings{
    .bytes_per_s = 1e15, .float32_per_s = 1e15, .float64_per_s = 1e15, .tensor_per_s = 1e15};

/// The CPU on one core, with ceilings that need not be measured.
class CpuWithCeilings : public Device {
 public:
  std::unique_ptr<PreparedOperation> prepare(const Shape& shape,
                                             const std::vector<Array>& operands) override {
    return cpu_->prepare(shape, operands);
  }
  const Ceilings& ceilings(const Variant& /*variant*/) override { return kCeilings; }

 private:
  std::unique_ptr<Device> cpu_ = make_cpu_device(1, PeakMeasurement::brief);
};

/// Reconstructs on the CPU, and says that it took a given time. Schedule::streams computes wrong
/// images.
class FakeBatch : public PreparedBatch {
 public:
  FakeBatch(const BatchShape& shape, Schedule schedule)
      : cpu_(make_cpu_batch(shape, 1, 1)), schedule_(schedule) {}
  double run() override {
    if (!has_run_) cpu_->run();
    has_run_ = true;
    return schedule_ == Schedule::serial ? 3e-3 : 1e-3;
  }
  std::vector<std::uint8_t> pixels(int image) override {
    std::vector<std::uint8_t> pixels = cpu_->pixels(image);
    if (schedule_ == Schedule::streams) pixels.back() ^= 2;
    return pixels;
  }
  void clear() override {}
  EngineShares measure_engines() override {
    return {.copy_in = 0.5, .compute = 0.25, .copy_out = 0.9, .overlap = 0.6};
  }

 private:
  std::unique_ptr<PreparedBatch> cpu_;
  const Schedule schedule_;
  bool has_run_ = false;
};

/// Reconstructs on the CPU, and says that it took a given time.
class FakePixels : public PixelReconstruction {
 public:
  explicit FakePixels(const BatchShape& shape) : shape_(shape) {}
  const std::vector<PixelVariant>& variants() const override { return variants_; }
  CallTimes run(std::size_t variant) override {
    const double compute_s = variants_[variant].kind == PixelVariant::Kind::library ? 3e-3 : 1e-3;
    return {.compute_s = compute_s, .copy_in_s = 2e-3, .copy_out_s = 5e-4, .total_s = 4e-3};
  }
  ReconstructedPixels result(std::size_t variant, int image) override {
    ReconstructedPixels result{reference_pixels(shape_, random_factors(shape_, image)), 0};
    if (variants_[variant].name == "wrong pixels") result.pixels[0] ^= 2;
    result.squared_error = squared_difference(result.pixels, original_pixels(shape_, image));
    if (variants_[variant].name == "wrong error") result.squared_error += 1;
    return result;
  }

 private:
  const BatchShape shape_;
  using Arithmetic = PixelVariant::Arithmetic;
  const std::vector<PixelVariant> variants_ = {
      {.name = "ours",
       .arithmetic = Arithmetic::float16_products,
       .kind = PixelVariant::Kind::one_kernel,
       .occupancy = 0.5},
      {.name = "theirs", .arithmetic = Arithmetic::float32, .kind = PixelVariant::Kind::library},
      {.name = "wrong pixels", .arithmetic = Arithmetic::float32, .kind = PixelVariant::Kind::run},
      {.name = "wrong error",
       .arithmetic = Arithmetic::float64,
       .kind = PixelVariant::Kind::library},
      {.name = "without library",
       .arithmetic = Arithmetic::float64,
       .kind = PixelVariant::Kind::run}};
};

class FakeGpu : public Gpu {
 public:
  explicit FakeGpu(std::vector<Variant> variants) : variants_(std::move(variants)) {}
  int preparations = 0, results = 0;  ///< how often an operation was prepared and checked
  int max_preparations = 1000;        ///< after these, the memory is too small

  std::unique_ptr<PreparedOperation> prepare(const Shape& shape,
                                             const std::vector<Array>& operands) override {
    if (variants_.empty() || preparations == max_preparations)
      throw compute::OutOfMemory("cudaMalloc: no memory for 3 GiB");
    ++preparations;
    return std::make_unique<Operation>(*this, cpu_->prepare(shape, operands));
  }
  const Ceilings& ceilings(const Variant& /*variant*/) override { return kCeilings; }
  GpuProperties properties() const override { return {.name = "Fake GPU", .bus_id = ""}; }
  RepeatableWork copy(HostMemory memory, Direction /*direction*/, std::size_t bytes) override {
    const double bytes_per_s = memory == HostMemory::pinned ? 50e9 : 10e9;
    return [=] { return 5e-6 + double(bytes) / bytes_per_s; };
  }
  RepeatableWork allocation(Allocation /*kind*/, std::size_t /*bytes*/) override {
    return [] { return 1e-3; };
  }
  RepeatableWork add_host_vectors(bool copies, std::size_t /*elements*/) override {
    return [=] { return copies ? 2e-3 : 1e-3; };
  }
  std::unique_ptr<PreparedBatch> prepare_batch(const BatchShape& shape, Schedule schedule,
                                               int /*streams*/, HostMemory memory) override {
    if (memory == HostMemory::pageable)
      throw compute::OutOfMemory("cudaMalloc: no memory for 2 GiB");
    return std::make_unique<FakeBatch>(shape, schedule);
  }
  std::unique_ptr<PixelReconstruction> prepare_pixels(const BatchShape& shape) override {
    if (variants_.empty()) throw compute::OutOfMemory("cudaMalloc: no memory for 3 GiB");
    return std::make_unique<FakePixels>(shape);
  }

 private:
  class Operation : public FakeOperation {
   public:
    Operation(FakeGpu& gpu, std::unique_ptr<PreparedOperation> cpu)
        : FakeOperation(std::move(cpu), gpu.variants_), gpu_(gpu) {}
    Result result(std::size_t variant) override {
      ++gpu_.results;
      return FakeOperation::result(variant);
    }

   private:
    FakeGpu& gpu_;
  };

  std::unique_ptr<Device> cpu_ = make_cpu_device(1, PeakMeasurement::brief);
  std::vector<Variant> variants_;
};

/// A library that fails to compute, one that fails when it is measured, and others.
class FakePeers : public Peers {
 public:
  std::function<void()> before_run = [] {};

  std::unique_ptr<PreparedOperation> prepare(const Shape& shape,
                                             const std::vector<Array>& operands) override {
    return std::make_unique<PeerOperation>(cpu_->prepare(shape, operands), before_run);
  }
  const Ceilings& ceilings(const Variant& /*variant*/) override { return kCeilings; }
  const std::map<std::string, std::string>& versions() const override { return versions_; }
  pid_t process() const override { return ::getpid(); }
  std::unique_ptr<PeerImages> prepare_images(std::span<const std::uint8_t> pixels, int /*n*/,
                                             int /*k*/) override {
    return std::make_unique<BlackImages>(pixels.size());
  }

 private:
  [[noreturn]] static void fail() { throw std::runtime_error("MemoryError: no memory"); }

  class PeerOperation : public FakeOperation {
   public:
    PeerOperation(std::unique_ptr<PreparedOperation> cpu, std::function<void()> before_run)
        : FakeOperation(std::move(cpu), {{.name = "right", .cores = 1},
                                         {.name = "wrong", .cores = 1},
                                         {.name = "failing", .cores = 1},
                                         {.name = "failing later", .cores = 1}}),
          before_run_(std::move(before_run)) {}
    CallTimes run(std::size_t variant) override {
      before_run_();
      if (variant == 3) fail();
      return FakeOperation::run(variant);
    }
    Result result(std::size_t variant) override {
      if (variant == 2) fail();
      return FakeOperation::result(variant);
    }

   private:
    std::function<void()> before_run_;
  };

  class BlackImages : public PeerImages {
   public:
    explicit BlackImages(std::size_t bytes) : bytes_(bytes) {}
    const std::vector<Variant>& variants() const override { return variants_; }
    double run(std::size_t /*variant*/) override { return 1e-6; }
    std::vector<std::uint8_t> pixels(std::size_t variant) override {
      if (variant == 1) fail();
      return std::vector<std::uint8_t>(bytes_);
    }

   private:
    const std::size_t bytes_;
    const std::vector<Variant> variants_ = {{.name = "black", .cores = 1},
                                            {.name = "failing", .cores = 1}};
  };

  std::unique_ptr<Device> cpu_ = make_cpu_device(1, PeakMeasurement::brief);
  const std::map<std::string, std::string> versions_ = {{"Black", "1.0"}};
};

inline Devices devices_with(std::vector<Variant> gpu_variants) {
  Devices devices{.cpu = std::make_unique<CpuWithCeilings>(), .gpu = {}, .no_gpu_reason = {}};
  devices.gpu = std::make_unique<FakeGpu>(std::move(gpu_variants));
  return devices;
}
inline Devices without_gpu() {
  return {
      .cpu = std::make_unique<CpuWithCeilings>(), .gpu = {}, .no_gpu_reason = "none in this test"};
}

}  // namespace eckart::bench
