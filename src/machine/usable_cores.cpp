#include "machine/usable_cores.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <thread>

#include "machine/control_group.hpp"
#include "machine/slurm_limits.hpp"

namespace eckart::machine {

int cgroup_core_limit(const std::filesystem::path& root, const std::filesystem::path& group) {
  double min_cores = std::numeric_limits<int>::max();
  for (const std::filesystem::path& folder : control_group_folders(root, group)) {
    std::ifstream file(folder / "cpu.max");  // quota and period in microseconds
    double quota_us = 0, period_us = 0;
    if (file >> quota_us >> period_us && quota_us > 0 && period_us > 0)
      min_cores = std::min(min_cores, std::max(1.0, std::floor(quota_us / period_us)));
  }
  return int(min_cores);
}

int usable_cores() {
  cpu_set_t allowed;  // 1024 CPUs; the call fails if the machine has more
  CPU_ZERO(&allowed);
  const bool is_known = sched_getaffinity(0, sizeof allowed, &allowed) == 0;
  const int cpus = is_known ? CPU_COUNT(&allowed) : int(std::thread::hardware_concurrency());
  return std::max(1, std::min({cpus, cgroup_core_limit(kControlGroupRoot, control_group()),
                               slurm_core_limit(environment_variable)}));
}

}  // namespace eckart::machine
