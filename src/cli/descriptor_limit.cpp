#include "cli/descriptor_limit.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace eckart::cli {

void raise_descriptor_limit() {
  constexpr rlim_t kTargetDescriptors = 65536;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kTargetDescriptors) return;
  limit.rlim_cur = std::min(kTargetDescriptors, limit.rlim_max);
  static_cast<void>(setrlimit(RLIMIT_NOFILE, &limit));
}

}  // namespace eckart::cli
