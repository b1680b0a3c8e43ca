// The linker redirects every call in wrapped_calls.inc to a wrapper (--wrap).
//
// In a module, the environment selects the fault. ECKART_CUDA_FAULT is WHAT:FIRST, where WHAT is
// the number of an error, or `trap` or `wild` for a kernel that destroys the context. It applies to
// the first process only; with ECKART_CUDA_FAULT_ALWAYS it also applies to restarted processes.
// ECKART_CUDA_POISON_BYTE=BYTE (hexadecimal): copying kPoisonBytes consecutive bytes of this value
// to the GPU destroys the context.
#include "tests/backend/cuda/faults/cuda_faults.hpp"

#include <cublas_v2.h>
#include <cusolverDn.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace eckart::compute::cuda {
namespace {

constexpr long kPoisonBytes = 256;

std::atomic<long> calls{0};
std::atomic<bool> is_lost{false};
std::atomic<int> launch_error{cudaSuccess};  // returned by cudaGetLastError()
CudaFault fault;
char kernel[8] = "";  // launched by a module instead of returning an error
int poison_byte = -1;

struct EnvironmentFault {
  EnvironmentFault() {
    if (const char* byte = std::getenv("ECKART_CUDA_POISON_BYTE"))
      poison_byte = int(std::strtol(byte, nullptr, 16));
    const char* text = std::getenv("ECKART_CUDA_FAULT");
    if (!text || (std::getenv("ECKART_RESTARTS") && !std::getenv("ECKART_CUDA_FAULT_ALWAYS")))
      return;
    char what[8] = "";
    long first = 0;
    std::sscanf(text, "%7[a-z0-9]:%ld", what, &first);
    const int error = std::atoi(what);
    if (error == 0) std::strcpy(kernel, what);
    arm_fault({cudaError_t(error), first, true});
  }
} environment_fault;

/// True if this call must fail.
bool should_fail() {
  if (is_lost) return true;
  if (++calls != fault.first) return false;
  if (kernel[0] != 0) {
    std::strcmp(kernel, "trap") == 0 ? launch_trap(nullptr) : launch_wild_write(nullptr);
    return false;  // the context reports the error itself
  }
  is_lost = fault.is_permanent;
  return true;
}

cudaError_t status(cudaError_t) { return fault.error; }
cublasStatus_t status(cublasStatus_t) {
  return fault.error == cudaErrorMemoryAllocation ? CUBLAS_STATUS_ALLOC_FAILED
                                                  : CUBLAS_STATUS_EXECUTION_FAILED;
}
cusolverStatus_t status(cusolverStatus_t) {
  return fault.error == cudaErrorMemoryAllocation ? CUSOLVER_STATUS_ALLOC_FAILED
                                                  : CUSOLVER_STATUS_EXECUTION_FAILED;
}

template <auto real>
struct Wrapper;
template <class Status, class... Args, Status (*real)(Args...)>
struct Wrapper<real> {
  static Status fail_without_call(Args... args) {
    return should_fail() ? status(Status{}) : real(args...);
  }
  static Status fail_after_call(Args... args) {
    const bool failed = should_fail();
    const Status real_status = real(args...);
    return failed ? status(Status{}) : real_status;
  }
};

bool contains_poison(const void* bytes, std::size_t size) {
  if (poison_byte < 0) return false;
  const auto* begin = static_cast<const unsigned char*>(bytes);
  const auto* end = begin + size;
  return std::search_n(begin, end, kPoisonBytes, static_cast<unsigned char>(poison_byte)) != end;
}

}  // namespace

void arm_fault(const CudaFault& new_fault) {
  fault = new_fault;
  calls = 0;
  is_lost = false;
  launch_error = cudaSuccess;
}

long cuda_call_count() { return calls; }

}  // namespace eckart::compute::cuda

using eckart::compute::cuda::fault;
using eckart::compute::cuda::launch_error;
using eckart::compute::cuda::should_fail;
using eckart::compute::cuda::Wrapper;

// The loader asks the resolver for the address of the wrapper, so only the name of the call must be
// known here.
#define WRAP_BY(name, how)                                                                         \
  extern "C" {                                                                                     \
  decltype(name) __real_##name;                                                                    \
  static void* resolve_##name() { return reinterpret_cast<void*>(&Wrapper<&__real_##name>::how); } \
  decltype(name) __wrap_##name __attribute__((ifunc("resolve_" #name)));                           \
  }
#define WRAP(name) WRAP_BY(name, fail_without_call)
#define WRAP_AFTER(name) WRAP_BY(name, fail_after_call)
#include "tests/backend/cuda/faults/wrapped_calls.inc"

// Calls that are overloaded or that need more than Wrapper.
extern "C" {

cublasStatus_t __real_cublasGemmStridedBatchedEx(cublasHandle_t, cublasOperation_t,
                                                 cublasOperation_t, int, int, int, const void*,
                                                 const void*, cudaDataType, int, long long,
                                                 const void*, cudaDataType, int, long long,
                                                 const void*, void*, cudaDataType, int, long long,
                                                 int, cublasComputeType_t, cublasGemmAlgo_t);
static void* resolve_gemm() {
  return reinterpret_cast<void*>(&Wrapper<&__real_cublasGemmStridedBatchedEx>::fail_without_call);
}
void __wrap_cublasGemmStridedBatchedEx() __attribute__((ifunc("resolve_gemm")));

cudaError_t __real_cudaMemcpyAsync(void*, const void*, size_t, cudaMemcpyKind, cudaStream_t);
cudaError_t __wrap_cudaMemcpyAsync(void* to, const void* from, size_t size, cudaMemcpyKind kind,
                                   cudaStream_t stream) {
  if (should_fail()) return fault.error;
  if (kind == cudaMemcpyHostToDevice && eckart::compute::cuda::contains_poison(from, size))
    eckart::compute::cuda::launch_trap(stream);
  return __real_cudaMemcpyAsync(to, from, size, kind, stream);
}

/// Callers read the error of a launch from cudaGetLastError().
cudaError_t __real___cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, size_t, cudaStream_t);
cudaError_t __wrap___cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                                      size_t shared, cudaStream_t stream) {
  if (!should_fail())
    return __real___cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
  launch_error = fault.error;
  return fault.error;
}
cudaError_t __real_cudaGetLastError();
cudaError_t __wrap_cudaGetLastError() {
  const auto error = cudaError_t(launch_error.exchange(cudaSuccess));
  return error != cudaSuccess ? error : __real_cudaGetLastError();
}
cudaError_t __real_cudaPeekAtLastError();
cudaError_t __wrap_cudaPeekAtLastError() {
  const auto error = cudaError_t(launch_error.load());
  return error != cudaSuccess ? error : __real_cudaPeekAtLastError();
}
}
