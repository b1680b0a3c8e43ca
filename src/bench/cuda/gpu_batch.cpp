#include "bench/cuda/gpu_batch.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <utility>
#include <vector>

#include "bench/cuda/batch_kernels.hpp"
#include "bench/cuda/host_buffer.hpp"
#include "bench/operation/engine_shares.hpp"
#include "compute/cuda/raii.hpp"

namespace eckart::bench::cuda {
namespace {

using compute::cuda::BlasHandle;
using compute::cuda::DeviceBuffer;
using compute::cuda::Event;
using compute::cuda::Stream;

enum Engine { copy_in, compute, copy_out };
constexpr std::size_t kEngines = 3;

/// A part of the work of an engine, between two events.
struct Part {
  Engine engine;
  Event begin, end;
};

/// Memory on the device for one image, or for all of them, and a stream.
struct Slot {
  Slot(const BatchShape& shape, int images) {
    const auto count = std::size_t(images);
    factors.reserve(count * shape.factor_count() * sizeof(float));
    values.reserve(count * shape.pixel_count() * sizeof(float));
    pixels.reserve(count * shape.pixel_count());
  }
  Stream stream = ECKART_CUDA_HANDLE(Stream, cudaStreamCreateWithFlags, cudaStreamNonBlocking);
  BlasHandle blas = ECKART_CUDA_HANDLE(BlasHandle, cublasCreate_v2);
  DeviceBuffer factors, values, pixels;
  // Of the last image of the slot; for double buffering.
  Event is_copied_in = ECKART_CUDA_HANDLE(Event, cudaEventCreateWithFlags, cudaEventDisableTiming);
  Event is_computed = ECKART_CUDA_HANDLE(Event, cudaEventCreateWithFlags, cudaEventDisableTiming);
  Event is_copied_out = ECKART_CUDA_HANDLE(Event, cudaEventCreateWithFlags, cudaEventDisableTiming);
};

class GpuBatch : public PreparedBatch {
 public:
  GpuBatch(const BatchShape& shape, Schedule schedule, int streams, HostMemory memory)
      : shape_(shape),
        schedule_(schedule),
        factors_(memory, std::size_t(shape.images) * shape.factor_count() * sizeof(float)),
        pixels_(memory, std::size_t(shape.images) * shape.pixel_count()) {
    for (int image = 0; image < shape.images; ++image) {
      const std::vector<float> factors = random_factors(shape, image);
      std::copy(factors.begin(), factors.end(), factors_of(image));
    }
    constexpr int kBuffers = 2;
    int slots = 1;
    if (schedule == Schedule::streams) slots = streams;
    if (schedule == Schedule::double_buffered) slots = kBuffers;
    for (int i = 0; i < slots; ++i)
      slots_.emplace_back(shape, schedule == Schedule::batched ? shape.images : 1);
  }

  double run() override {
    const auto begin = std::chrono::steady_clock::now();
    queue_all();
    wait();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  void clear() override {
    std::fill_n(pixels_of(0), std::size_t(shape_.images) * shape_.pixel_count(), 0);
  }

  std::vector<std::uint8_t> pixels(int image) override {
    const std::uint8_t* begin = pixels_of(image);
    return {begin, begin + shape_.pixel_count()};
  }

  EngineShares measure_engines() override {
    parts_.clear();
    const Event start = ECKART_CUDA_HANDLE(Event, cudaEventCreateWithFlags, cudaEventDefault);
    ECKART_CUDA_CHECK(cudaEventRecord(start.get(), slots_.front().stream.get()));
    ECKART_CUDA_CHECK(cudaEventSynchronize(start.get()));
    measures_ = true;
    queue_all();
    measures_ = false;
    wait();
    const auto seconds_to = [&](const Event& event) {
      float ms = 0;
      ECKART_CUDA_CHECK(cudaEventElapsedTime(&ms, start.get(), event.get()));
      return 1e-3 * double(ms);
    };
    std::array<std::vector<Interval>, kEngines> of_engine;
    for (const Part& part : parts_)
      of_engine[part.engine].emplace_back(seconds_to(part.begin), seconds_to(part.end));
    return engine_shares(of_engine[copy_in], of_engine[compute], of_engine[copy_out]);
  }

 private:
  float* factors_of(int image) const {
    return reinterpret_cast<float*>(factors_.data()) + std::size_t(image) * shape_.factor_count();
  }
  std::uint8_t* pixels_of(int image) const {
    return reinterpret_cast<std::uint8_t*>(pixels_.data()) +
           std::size_t(image) * shape_.pixel_count();
  }

  void queue_all() {
    switch (schedule_) {
      case Schedule::serial:
        for (int image = 0; image < shape_.images; ++image) {
          queue_image(slots_.front(), image);
          wait();
        }
        break;
      case Schedule::streams:
        for (int image = 0; image < shape_.images; ++image)
          queue_image(slots_[std::size_t(image) % slots_.size()], image);
        break;
      case Schedule::double_buffered:
        for (int image = 0; image < shape_.images; ++image)
          queue_double_buffered(slots_[std::size_t(image) % slots_.size()], image);
        break;
      case Schedule::batched:
        queue_copy_in(slots_.front(), 0, shape_.images, slots_.front().stream.get());
        queue_compute(slots_.front(), shape_.images, slots_.front().stream.get());
        queue_copy_out(slots_.front(), 0, shape_.images, slots_.front().stream.get());
        break;
    }
  }

  void queue_image(const Slot& slot, int image) {
    queue_copy_in(slot, image, 1, slot.stream.get());
    queue_compute(slot, 1, slot.stream.get());
    queue_copy_out(slot, image, 1, slot.stream.get());
  }

  /// Each engine works on its own stream. It waits for the engine before it, and for the buffer:
  /// the events are those of the image that used the slot before.
  void queue_double_buffered(const Slot& slot, int image) {
    const auto wait_for = [](const Stream& stream, const Event& event) {
      ECKART_CUDA_CHECK(cudaStreamWaitEvent(stream.get(), event.get(), 0));
    };
    const auto record = [](const Event& event, const Stream& stream) {
      ECKART_CUDA_CHECK(cudaEventRecord(event.get(), stream.get()));
    };
    wait_for(copy_in_stream_, slot.is_computed);
    queue_copy_in(slot, image, 1, copy_in_stream_.get());
    record(slot.is_copied_in, copy_in_stream_);
    wait_for(compute_stream_, slot.is_copied_in);
    wait_for(compute_stream_, slot.is_copied_out);
    queue_compute(slot, 1, compute_stream_.get());
    record(slot.is_computed, compute_stream_);
    wait_for(copy_out_stream_, slot.is_computed);
    queue_copy_out(slot, image, 1, copy_out_stream_.get());
    record(slot.is_copied_out, copy_out_stream_);
  }

  void queue_copy_in(const Slot& slot, int image, int count, cudaStream_t stream) {
    const std::size_t bytes = std::size_t(count) * shape_.factor_count() * sizeof(float);
    begin_part(copy_in, stream);
    ECKART_CUDA_CHECK_COPY(cudaMemcpyAsync(slot.factors.as<float>(), factors_of(image), bytes,
                                           cudaMemcpyHostToDevice, stream),
                           bytes);
    end_part(stream);
  }

  void queue_compute(const Slot& slot, int count, cudaStream_t stream) {
    const int m = shape_.m, n = shape_.n, k = shape_.k;
    const auto stride = std::int64_t(shape_.factor_count());
    const float one = 1, zero = 0;
    float* const u_mk = slot.factors.as<float>();
    float* const vt_kn = u_mk + (std::size_t(m) + 1) * std::size_t(k);
    begin_part(compute, stream);
    queue_scale_rows(u_mk, shape_, count, stream);
    ECKART_CUDA_CHECK(cublasSetStream(slot.blas.get(), stream));
    ECKART_CUDA_CHECK(cublasSgemmStridedBatched(
        slot.blas.get(), CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, vt_kn, n, stride, u_mk, k, stride,
        &zero, slot.values.as<float>(), n, std::int64_t(shape_.pixel_count()), count));
    queue_to_pixels(slot.values.as<float>(), slot.pixels.as<std::uint8_t>(),
                    std::size_t(count) * shape_.pixel_count(), stream);
    end_part(stream);
  }

  void queue_copy_out(const Slot& slot, int image, int count, cudaStream_t stream) {
    const std::size_t bytes = std::size_t(count) * shape_.pixel_count();
    begin_part(copy_out, stream);
    ECKART_CUDA_CHECK_COPY(cudaMemcpyAsync(pixels_of(image), slot.pixels.as<std::uint8_t>(), bytes,
                                           cudaMemcpyDeviceToHost, stream),
                           bytes);
    end_part(stream);
  }

  void begin_part(Engine engine, cudaStream_t stream) {
    if (!measures_) return;
    const auto make = [] {
      return ECKART_CUDA_HANDLE(Event, cudaEventCreateWithFlags, cudaEventDefault);
    };
    parts_.push_back({engine, make(), make()});
    ECKART_CUDA_CHECK(cudaEventRecord(parts_.back().begin.get(), stream));
  }
  void end_part(cudaStream_t stream) {
    if (measures_) ECKART_CUDA_CHECK(cudaEventRecord(parts_.back().end.get(), stream));
  }

  void wait() const {
    for (const Slot& slot : slots_) ECKART_CUDA_CHECK(cudaStreamSynchronize(slot.stream.get()));
    ECKART_CUDA_CHECK(cudaStreamSynchronize(copy_out_stream_.get()));
  }

  const BatchShape shape_;
  const Schedule schedule_;
  HostBuffer factors_, pixels_;  // of all images
  std::vector<Slot> slots_;
  Stream copy_in_stream_ =
      ECKART_CUDA_HANDLE(Stream, cudaStreamCreateWithFlags, cudaStreamNonBlocking);
  Stream compute_stream_ =
      ECKART_CUDA_HANDLE(Stream, cudaStreamCreateWithFlags, cudaStreamNonBlocking);
  Stream copy_out_stream_ =
      ECKART_CUDA_HANDLE(Stream, cudaStreamCreateWithFlags, cudaStreamNonBlocking);
  bool measures_ = false;
  std::vector<Part> parts_;  // of the last measurement
};

}  // namespace

std::unique_ptr<PreparedBatch> make_gpu_batch(const BatchShape& shape, Schedule schedule,
                                              int streams, HostMemory memory) {
  return std::make_unique<GpuBatch>(shape, schedule, streams, memory);
}

}  // namespace eckart::bench::cuda
