#include "tests/backend/cuda/faults/cuda_faults.hpp"

namespace eckart::compute::cuda {
namespace {

__global__ void trap() { __trap(); }
__global__ void write_to(volatile int* address) { *address = 1; }

}  // namespace

void launch_trap(cudaStream_t stream) { trap<<<1, 1, 0, stream>>>(); }
void launch_wild_write(cudaStream_t stream) { write_to<<<1, 1, 0, stream>>>(nullptr); }

}  // namespace eckart::compute::cuda
