// The one door of libeckart_cuda.so; src/app/make_backend.cpp opens it.
#include <cstring>

#include "compute/cuda/cuda_backend.hpp"
#include "core/error.hpp"

/// Makes the CUDA backend; the caller owns it. `version` is the program's: the two are built
/// together or not at all. Throws FatalError.
extern "C" __attribute__((visibility("default"))) eckart::Backend* eckart_make_cuda_backend(
    const char* version, const eckart::BackendOptions& options) {
  if (std::strcmp(version, ECKART_VERSION) != 0) {
    throw eckart::FatalError(eckart::ExitCode::unavailable,
                             "libeckart_cuda.so has version " ECKART_VERSION
                             ", but the program has version " +
                                 std::string(version) + "; install both from the same package");
  }
  return eckart::cuda::make_cuda_backend(options).release();
}
