#include <cstdlib>

#include "cli/cli.hpp"
#ifdef ECKART_HAVE_MIMALLOC
#include <mimalloc.h>
#endif

int main(int argc, char** argv) {
  // Of CUDA: as many queues of a GPU as it has. The streams of the lanes share the default of 8, so
  // that a copy waits for a kernel of another lane. Set here because other threads read the
  // environment later.
  ::setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", /*overwrite=*/0);
#ifdef ECKART_HAVE_MIMALLOC
  // Memory of pixels is soon used again. By default its pages are given back after 25 ms.
  constexpr long kDecommitDelay_ms = 1000;
  mi_option_set_default(mi_option_decommit_delay, kDecommitDelay_ms);
#endif
  return eckart::cli::run(argc, argv);
}
