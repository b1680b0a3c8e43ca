#include "compute/cuda/timing_event.hpp"

#include <cstdint>

namespace eckart::compute::cuda {

Event make_timing_event() {
  return ECKART_CUDA_HANDLE(Event, cudaEventCreateWithFlags, unsigned(cudaEventDefault));
}

std::chrono::nanoseconds elapsed(const Event& from, const Event& to) {
  float ms = 0;
  ECKART_CUDA_CHECK(cudaEventElapsedTime(&ms, from.get(), to.get()));
  return std::chrono::nanoseconds(std::int64_t(1e6 * double(ms)));
}

}  // namespace eckart::compute::cuda
