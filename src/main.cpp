#include "cli/cli.hpp"
#ifdef ECKART_HAVE_MIMALLOC
#include <mimalloc.h>
#endif

int main(int argc, char** argv) {
#ifdef ECKART_HAVE_MIMALLOC
  // Memory of pixels is soon used again. By default its pages are given back after 25 ms.
  constexpr long kDecommitDelay_ms = 1000;
  mi_option_set_default(mi_option_decommit_delay, kDecommitDelay_ms);
#endif
  return eckart::cli::run(argc, argv);
}
