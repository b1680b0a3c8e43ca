#pragma once

#include <cstdio>
#include <exception>
#include <string>

namespace eckart::compute::cuda::bench {

/// Prints the JSON that `measure` returns, or its error after the name of the program. Returns the
/// exit code.
template <class Measure>
int print_result(const char* program, const Measure& measure) {
  try {
    std::printf("%s\n", measure().dump(1).c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", program, error.what());
    return 1;
  }
}

}  // namespace eckart::compute::cuda::bench
