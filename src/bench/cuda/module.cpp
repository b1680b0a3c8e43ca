// The exported functions of libeckart_bench_kernels.so. src/bench/experiments/devices.cpp loads
// them.
#include "bench/cuda/gpu_device.hpp"
#include "build_id/build_id.hpp"
#include "build_id/module_export.hpp"

/// The caller must compare this with its own build ID before it calls any other function.
ECKART_MODULE_EXPORT const char* eckart_bench_kernels_build_id() { return eckart::build_id(); }

/// Creates the device; the caller owns it. Throws std::runtime_error.
ECKART_MODULE_EXPORT eckart::bench::Gpu* eckart_make_gpu() {
  return eckart::bench::cuda::make_gpu().release();
}
