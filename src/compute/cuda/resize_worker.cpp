#include "compute/cuda/resize_worker.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

#include "compute/cuda/kernels/resize.hpp"
#include "compute/cuda/profiler_range.hpp"

namespace eckart::compute::cuda {
namespace {

// Small, so that copies of the lanes wait for a short time only, and the CPU's caches hold it.
constexpr std::size_t kChunkBytes = std::size_t(1) << 20;

int make_current(int device) {
  ECKART_CUDA_CHECK(cudaSetDevice(device));
  return device;
}

/// Growing waits for the device, so it is done in large steps.
void reserve(DeviceBuffer& buffer, std::size_t bytes) {
  if (bytes > buffer.bytes()) buffer.reserve(std::bit_ceil(bytes));
}

}  // namespace

ResizeWorker::ResizeWorker(int device)
    : device_(make_current(device)),
      stream_(ECKART_CUDA_HANDLE(Stream, cudaStreamCreateWithFlags, cudaStreamNonBlocking)) {
  for (Chunk& chunk : chunks_) {
    chunk.memory.reserve(kChunkBytes);
    // The waiting thread leaves its core to others.
    chunk.copied = ECKART_CUDA_HANDLE(Event, cudaEventCreateWithFlags,
                                      cudaEventDisableTiming | cudaEventBlockingSync);
  }
}

ResizeWorker::~ResizeWorker() { static_cast<void>(cudaStreamSynchronize(stream_.get())); }

void ResizeWorker::resize(const Image& image, const ResizePlan& plan, Image& result) {
  const ProfilerRange range("resize");
  make_current(device_);
  const FilterPass* passes = copy_in_all(plan.passes, passes_);
  const FilterWindow* windows = copy_in_all(plan.filters.windows, windows_);
  const std::int32_t* weights = copy_in_all(plan.filters.weights, weights_);
  for (std::size_t i = 0; i < plan.shapes.size(); ++i) reserve(images_[i], plan.shapes[i].bytes());
  copy_in(image.data(), image.bytes(), images_.front().as<>());
  for (std::size_t i = 0; i < plan.passes.size(); ++i) {
    filter_side(images_[i].as<>(), passes + i, 1, plan.passes[i].out_samples(), windows, weights,
                images_[i + 1].as<>(), stream_.get());
  }
  copy_out(images_[plan.passes.size()].as<>(), result.bytes(), result.data());
}

/// Waits until the chunk is copied.
const ResizeWorker::Chunk& ResizeWorker::next_chunk() {
  const Chunk& chunk = chunks_[chunks_used_++ % chunks_.size()];
  ECKART_CUDA_CHECK(cudaEventSynchronize(chunk.copied.get()));
  return chunk;
}

void ResizeWorker::copy_in(const std::byte* from, std::size_t bytes, std::byte* to) {
  for (std::size_t begin = 0; begin < bytes; begin += kChunkBytes) {
    const std::size_t part = std::min(kChunkBytes, bytes - begin);
    const Chunk& chunk = next_chunk();
    std::memcpy(chunk.memory.as<>(), from + begin, part);
    ECKART_CUDA_CHECK_COPY(cudaMemcpyAsync(to + begin, chunk.memory.as<>(), part,
                                           cudaMemcpyHostToDevice, stream_.get()),
                           part);
    ECKART_CUDA_CHECK(cudaEventRecord(chunk.copied.get(), stream_.get()));
  }
}

void ResizeWorker::copy_out(const std::byte* from, std::size_t bytes, std::byte* to) {
  for (std::size_t begin = 0; begin < bytes; begin += kChunkBytes) {
    const std::size_t part = std::min(kChunkBytes, bytes - begin);
    const Chunk& chunk = next_chunk();
    ECKART_CUDA_CHECK_COPY(cudaMemcpyAsync(chunk.memory.as<>(), from + begin, part,
                                           cudaMemcpyDeviceToHost, stream_.get()),
                           part);
    ECKART_CUDA_CHECK(cudaEventRecord(chunk.copied.get(), stream_.get()));
    ECKART_CUDA_CHECK(cudaEventSynchronize(chunk.copied.get()));
    std::memcpy(to + begin, chunk.memory.as<>(), part);
  }
}

template <class T>
T* ResizeWorker::copy_in_all(const std::vector<T>& from, DeviceBuffer& to) {
  const auto bytes = std::as_bytes(std::span(from));
  reserve(to, bytes.size());
  copy_in(bytes.data(), bytes.size(), to.as<>());
  return to.as<T>();
}

}  // namespace eckart::compute::cuda
