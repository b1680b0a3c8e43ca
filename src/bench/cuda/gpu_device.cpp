#include "bench/cuda/gpu_device.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <type_traits>
#include <utility>

#include "bench/cuda/gpu_batch.hpp"
#include "bench/cuda/gpu_pixels.hpp"
#include "bench/cuda/launches.hpp"
#include "bench/cuda/library_variants.hpp"
#include "bench/cuda/mirrored_array.hpp"
#include "bench/cuda/queue.hpp"
#include "bench/cuda/random_fill.hpp"
#include "bench/cuda/transfers.hpp"
#include "compute/cuda/raii.hpp"

namespace eckart::bench::cuda {
namespace {

using compute::cuda::DeviceBuffer;

template <class Real>
class GpuOperation : public PreparedOperation {
 public:
  GpuOperation(const Shape& shape, const std::vector<Array>& operands, Queue& queue)
      : queue_(queue), result_(shape.result_size() * sizeof(Real)) {
    for (const Array& operand : operands) {
      const auto& values = std::get<std::vector<Real>>(operand);
      const MirroredArray& array = operands_.emplace_back(values.size() * sizeof(Real));
      std::memcpy(array.host(), values.data(), array.bytes());
      array.queue_copy_in(stream());
      device_operands_.push_back(static_cast<const Real*>(array.device()));
    }
    kernels_ = kernel_variants<Real>(shape);
    for (KernelVariant<Real>& library : library_variants<Real>(shape, queue.blas.get()))
      kernels_.push_back(std::move(library));
    for (const KernelVariant<Real>& kernel : kernels_) variants_.push_back(kernel.variant);
    queue_.wait();
  }

  const std::vector<Variant>& variants() const override { return variants_; }

  CallTimes run(std::size_t variant) override {
    return queue_.call_times(
        [&] {
          for (const MirroredArray& operand : operands_) operand.queue_copy_in(stream());
        },
        [&] { launch(variant); }, [&] { result_.queue_copy_out(stream()); });
  }

  Result result(std::size_t variant) override {
    constexpr int kNan = 0xff;  // a number of such bytes is NaN
    ECKART_CUDA_CHECK(cudaMemsetAsync(result_.device(), kNan, result_.bytes(), stream()));
    const Moments<6>& moments = queue_.moments;
    moments.record(0, stream());
    launch(variant);
    moments.record(1, stream());
    result_.queue_copy_out(stream());
    queue_.wait();
    std::vector<Real> values(result_.bytes() / sizeof(Real));
    std::memcpy(values.data(), result_.host(), result_.bytes());
    return {std::move(values), moments.between(0, 1)};
  }

 private:
  cudaStream_t stream() const { return queue_.stream.get(); }
  void launch(std::size_t variant) const {
    kernels_[variant].launch(device_operands_, static_cast<Real*>(result_.device()), stream());
  }

  Queue& queue_;
  std::vector<MirroredArray> operands_;
  std::vector<const Real*> device_operands_;
  MirroredArray result_;
  std::vector<KernelVariant<Real>> kernels_;
  std::vector<Variant> variants_;
};

class FirstGpu : public Gpu {
 public:
  std::unique_ptr<PreparedOperation> prepare(const Shape& shape,
                                             const std::vector<Array>& operands) override {
    if (shape.precision == Precision::float32)
      return std::make_unique<GpuOperation<float>>(shape, operands, queue_);
    return std::make_unique<GpuOperation<double>>(shape, operands, queue_);
  }

  RepeatableWork copy(HostMemory memory, Direction direction, std::size_t bytes) override {
    return make_copy(memory, direction, bytes);
  }
  RepeatableWork allocation(Allocation kind, std::size_t bytes) override {
    return make_allocation(kind, bytes);
  }
  RepeatableWork add_host_vectors(bool copies, std::size_t elements) override {
    return make_addition_of_host_vectors(copies, elements);
  }
  std::unique_ptr<PreparedBatch> prepare_batch(const BatchShape& shape, Schedule schedule,
                                               int streams, HostMemory memory) override {
    return make_gpu_batch(shape, schedule, streams, memory);
  }

  std::unique_ptr<PixelReconstruction> prepare_pixels(const BatchShape& shape) override {
    return make_gpu_pixels(shape, queue_);
  }

  GpuProperties properties() const override {
    int device = 0;
    cudaDeviceProp properties{};
    ECKART_CUDA_CHECK(cudaGetDevice(&device));
    ECKART_CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
    std::array<char, 32> bus_id{};
    ECKART_CUDA_CHECK(cudaDeviceGetPCIBusId(bus_id.data(), int(bus_id.size()), device));
    return {.name = properties.name,
            .bus_id = bus_id.data(),
            .memory_bytes = std::int64_t(properties.totalGlobalMem)};
  }

  const Ceilings& ceilings(const Variant& /*variant*/) override {
    if (!ceilings_) {
      constexpr int kProducts = 3;
      ceilings_ = {
          .bytes_per_s = measure_copy(),
          .float32_per_s = measure_product<float>(CUDA_R_32F, CUBLAS_COMPUTE_32F),
          .float64_per_s = measure_product<double>(CUDA_R_64F, CUBLAS_COMPUTE_64F),
          .tensor_per_s =
              measure_product<float>(CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32) / kProducts};
    }
    return *ceilings_;
  }

 private:
  /// The shortest time of some calls.
  template <class Work>
  double shortest_time(const Work& work) {
    constexpr int kMinCalls = 3, kMaxCalls = 10;
    constexpr double kMaxSeconds = 0.5;
    double shortest = 0, all = 0;
    for (int i = 0; i < kMaxCalls && (i < kMinCalls || all < kMaxSeconds); ++i) {
      const double seconds = queue_.seconds(work);
      shortest = i == 0 ? seconds : std::min(shortest, seconds);
      all += seconds;
    }
    return shortest;
  }

  double measure_copy() {
    constexpr std::size_t kBytes = std::size_t(1) << 30;
    DeviceBuffer from, to;
    from.reserve(kBytes);
    to.reserve(kBytes);
    fill_randomly(from.as<float>(), kBytes / sizeof(float));
    const double seconds = shortest_time([&] {
      ECKART_CUDA_CHECK(cudaMemcpyAsync(to.as<void>(), from.as<void>(), kBytes,
                                        cudaMemcpyDeviceToDevice, queue_.stream.get()));
    });
    return 2.0 * double(kBytes) / seconds;
  }

  template <class Real>
  double measure_product(cudaDataType type, cublasComputeType_t compute_type) {
    // Float64 is slow on most GPUs.
    constexpr int kSide = std::is_same_v<Real, double> ? 4096 : 8192;
    constexpr std::size_t kElements = std::size_t(kSide) * kSide;
    DeviceBuffer a, b, c;
    for (DeviceBuffer* buffer : {&a, &b, &c}) buffer->reserve(kElements * sizeof(Real));
    fill_randomly(a.as<Real>(), kElements);
    fill_randomly(b.as<Real>(), kElements);
    const Real one = 1, zero = 0;
    const double seconds = shortest_time([&] {
      ECKART_CUDA_CHECK(cublasGemmEx(queue_.blas.get(), CUBLAS_OP_N, CUBLAS_OP_N, kSide, kSide,
                                     kSide, &one, a.as<void>(), type, kSide, b.as<void>(), type,
                                     kSide, &zero, c.as<void>(), type, kSide, compute_type,
                                     CUBLAS_GEMM_DEFAULT));
    });
    return 2.0 * kSide * kSide * kSide / seconds;
  }

  Queue queue_;
  std::optional<Ceilings> ceilings_;
};

}  // namespace

std::unique_ptr<Gpu> make_gpu() {
  ECKART_CUDA_CHECK(cudaSetDevice(0));
  return std::make_unique<FirstGpu>();
}

}  // namespace eckart::bench::cuda
