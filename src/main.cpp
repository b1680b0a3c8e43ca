#include <cstdlib>

#include "cli/cli.hpp"
#ifdef ECKART_HAVE_MIMALLOC
#include <mimalloc.h>
#endif

int main(int argc, char** argv) {
  // Of CUDA: queues of each GPU. The streams of the lanes share them. With the default of 8, a copy
  // waits for a kernel of another lane; with 32, CUDA takes 0.4 s longer to start and to end, and
  // images are no faster. Set here because other threads read the environment later.
  // docs/explanation/performance.md#queues-of-the-gpu has measurements.
  ::setenv("CUDA_DEVICE_MAX_CONNECTIONS", "16", /*overwrite=*/0);
#ifdef ECKART_HAVE_MIMALLOC
  // Memory of pixels is soon used again. By default its pages are given back after 25 ms.
  constexpr long kDecommitDelay_ms = 1000;
  mi_option_set_default(mi_option_decommit_delay, kDecommitDelay_ms);
#endif
  return eckart::cli::run(argc, argv);
}
