#include "bench/cuda/transfers.hpp"

#include <chrono>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

#include "bench/cuda/host_buffer.hpp"
#include "bench/cuda/launches.hpp"
#include "compute/cuda/raii.hpp"

namespace eckart::bench::cuda {
namespace {

using compute::cuda::DeviceBuffer;
using compute::cuda::PinnedBuffer;
using compute::cuda::Stream;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// One direction of copies.
class Way {
 public:
  Way(HostMemory memory, std::size_t bytes) : bytes_(bytes), host_(memory, bytes) {
    device_.reserve(bytes);
    constexpr std::size_t kFactor = 2654435761;  // Knuth: bytes without a pattern
    for (std::size_t i = 0; i < bytes; ++i) host_.data()[i] = std::byte(i * kFactor >> 13);
  }
  void queue(bool is_to_device) const {
    void *const host = host_.data(), *const device = device_.as<void>();
    if (is_to_device) {
      ECKART_CUDA_CHECK_COPY(
          cudaMemcpyAsync(device, host, bytes_, cudaMemcpyHostToDevice, stream_.get()), bytes_);
    } else {
      ECKART_CUDA_CHECK_COPY(
          cudaMemcpyAsync(host, device, bytes_, cudaMemcpyDeviceToHost, stream_.get()), bytes_);
    }
  }
  void wait() const { ECKART_CUDA_CHECK(cudaStreamSynchronize(stream_.get())); }

  /// Copies to the device and back. Throws std::runtime_error if a byte changes.
  void check() const {
    const std::vector<std::byte> before(host_.data(), host_.data() + bytes_);
    queue(true);
    wait();
    std::memset(host_.data(), 0, bytes_);
    queue(false);
    wait();
    if (std::memcmp(before.data(), host_.data(), bytes_) != 0)
      throw std::runtime_error("a copy to the GPU and back changed the data");
  }

 private:
  const std::size_t bytes_;
  HostBuffer host_;
  DeviceBuffer device_;
  Stream stream_ = ECKART_CUDA_HANDLE(Stream, cudaStreamCreateWithFlags, cudaStreamNonBlocking);
};

}  // namespace

RepeatableWork make_copy(HostMemory memory, Direction direction, std::size_t bytes) {
  std::shared_ptr<const Way> to, from;  // null: not used
  if (direction != Direction::from_device) to = std::make_shared<const Way>(memory, bytes);
  if (direction != Direction::to_device) from = std::make_shared<const Way>(memory, bytes);
  if (to) to->check();
  if (from) from->check();
  return [=] {
    const auto begin = std::chrono::steady_clock::now();
    if (to) to->queue(true);
    if (from) from->queue(false);
    if (to) to->wait();
    if (from) from->wait();
    return seconds_since(begin);
  };
}

RepeatableWork make_allocation(Allocation kind, std::size_t bytes) {
  switch (kind) {
    case Allocation::pinned:
      return [=] {
        const auto begin = std::chrono::steady_clock::now();
        void* memory = nullptr;
        ECKART_CUDA_CHECK(cudaHostAlloc(&memory, bytes, cudaHostAllocDefault));
        ECKART_CUDA_CHECK(cudaFreeHost(memory));
        return seconds_since(begin);
      };
    case Allocation::registered: {
      const auto memory = std::make_shared<std::vector<std::byte>>(bytes, std::byte(1));
      return [=] {
        const auto begin = std::chrono::steady_clock::now();
        ECKART_CUDA_CHECK(cudaHostRegister(memory->data(), bytes, cudaHostRegisterDefault));
        ECKART_CUDA_CHECK(cudaHostUnregister(memory->data()));
        return seconds_since(begin);
      };
    }
    case Allocation::device:
      return [=] {
        const auto begin = std::chrono::steady_clock::now();
        {
          DeviceBuffer memory;
          memory.reserve(bytes);
        }
        return seconds_since(begin);
      };
  }
  return {};
}

RepeatableWork make_addition_of_host_vectors(bool copies, std::size_t elements) {
  struct Operands {
    explicit Operands(std::size_t elements) : bytes(elements * sizeof(float)) {
      for (PinnedBuffer* buffer : {&a, &b, &c}) buffer->reserve(bytes);
      for (std::size_t i = 0; i < elements; ++i) {
        a.as<float>()[i] = float(i % 1000);
        b.as<float>()[i] = float(i % 777);
      }
    }
    const std::size_t bytes;
    PinnedBuffer a, b, c;
    DeviceBuffer device_a, device_b, device_c;
    Stream stream = ECKART_CUDA_HANDLE(Stream, cudaStreamCreateWithFlags, cudaStreamNonBlocking);
    std::vector<KernelVariant<float>> kernels;
  };
  const auto o = std::make_shared<Operands>(elements);
  o->kernels = kernel_variants<float>({.operation = Operation::add, .n = int(elements)});
  if (copies) {
    for (DeviceBuffer* buffer : {&o->device_a, &o->device_b, &o->device_c})
      buffer->reserve(o->bytes);
  }
  const auto copy = [o](void* to, const void* from, cudaMemcpyKind kind) {
    ECKART_CUDA_CHECK_COPY(cudaMemcpyAsync(to, from, o->bytes, kind, o->stream.get()), o->bytes);
  };
  RepeatableWork work = [=] {
    const auto begin = std::chrono::steady_clock::now();
    const float* a = o->a.as<float>();
    const float* b = o->b.as<float>();
    float* c = o->c.as<float>();
    if (copies) {
      copy(o->device_a.as<void>(), a, cudaMemcpyHostToDevice);
      copy(o->device_b.as<void>(), b, cudaMemcpyHostToDevice);
      a = o->device_a.as<float>();
      b = o->device_b.as<float>();
      c = o->device_c.as<float>();
    }
    o->kernels.front().launch({a, b}, c, o->stream.get());
    if (copies) copy(o->c.as<void>(), c, cudaMemcpyDeviceToHost);
    ECKART_CUDA_CHECK(cudaStreamSynchronize(o->stream.get()));
    return seconds_since(begin);
  };
  work();
  for (std::size_t i = 0; i < elements; ++i) {
    if (o->c.as<float>()[i] != float(i % 1000) + float(i % 777))
      throw std::runtime_error("a sum of vectors in pinned memory is wrong");
  }
  return work;
}

}  // namespace eckart::bench::cuda
