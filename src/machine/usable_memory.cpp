#include "machine/usable_memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>

#include "machine/control_group.hpp"
#include "machine/slurm_limits.hpp"

namespace eckart::machine {

std::int64_t cgroup_memory_limit(const std::filesystem::path& root,
                                 const std::filesystem::path& group) {
  std::int64_t min_bytes = std::numeric_limits<std::int64_t>::max();
  for (const std::filesystem::path& folder : control_group_folders(root, group)) {
    // Above memory.high, processes are slowed down; above memory.max, they are killed.
    for (const char* name : {"memory.high", "memory.max"}) {
      std::int64_t bytes = 0;  // the file has "max" if there is no limit
      if (std::ifstream(folder / name) >> bytes) min_bytes = std::min(min_bytes, bytes);
    }
  }
  return min_bytes;
}

std::int64_t usable_memory_bytes() {
  const std::int64_t machine_bytes =
      std::int64_t(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
  return std::min({machine_bytes, cgroup_memory_limit(kControlGroupRoot, control_group()),
                   slurm_memory_limit(environment_variable)});
}

std::int64_t available_memory_bytes(const std::filesystem::path& meminfo) {
  std::ifstream file(meminfo);
  std::string line;
  while (std::getline(file, line)) {
    constexpr std::string_view kName = "MemAvailable:";
    if (line.starts_with(kName)) return std::atoll(line.c_str() + kName.size()) * 1024;
  }
  return 0;
}

}  // namespace eckart::machine
