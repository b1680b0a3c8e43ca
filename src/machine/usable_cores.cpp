#include "machine/usable_cores.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <string>
#include <thread>

namespace eckart::machine {
namespace {

/// The path after "0::" (cgroup version 2) in /proc/self/cgroup; empty if there is none.
std::string cgroup_path() {
  std::ifstream lines("/proc/self/cgroup");
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("0::/")) return line.substr(4);
  }
  return {};
}

}  // namespace

int cgroup_core_limit(const std::filesystem::path& root, const std::filesystem::path& group) {
  double min_cores = std::numeric_limits<int>::max();
  const auto apply_limit = [&](const std::filesystem::path& folder) {
    std::ifstream file(folder / "cpu.max");  // quota and period in microseconds
    double quota_us = 0, period_us = 0;
    if (file >> quota_us >> period_us && quota_us > 0 && period_us > 0)
      min_cores = std::min(min_cores, std::max(1.0, std::floor(quota_us / period_us)));
  };
  apply_limit(root);
  std::filesystem::path folder = root;
  for (const auto& name : group) apply_limit(folder /= name);
  return int(min_cores);
}

int usable_cores() {
  cpu_set_t allowed;  // 1024 CPUs; the call fails if the machine has more
  CPU_ZERO(&allowed);
  const bool is_known = sched_getaffinity(0, sizeof allowed, &allowed) == 0;
  const int cpus = is_known ? CPU_COUNT(&allowed) : int(std::thread::hardware_concurrency());
  return std::max(1, std::min(cpus, cgroup_core_limit("/sys/fs/cgroup", cgroup_path())));
}

}  // namespace eckart::machine
