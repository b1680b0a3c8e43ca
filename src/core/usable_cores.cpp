#include "core/usable_cores.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <string>
#include <thread>

namespace eckart {
namespace {

/// What /proc/self/cgroup says after "0::", the mark of version 2; empty where there is none.
std::string control_group() {
  std::ifstream lines("/proc/self/cgroup");
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("0::/")) return line.substr(4);
  }
  return {};
}

}  // namespace

int cores_of_quota(const std::filesystem::path& root, const std::filesystem::path& group) {
  double least = std::numeric_limits<int>::max();
  const auto look = [&](const std::filesystem::path& folder) {
    std::ifstream file(folder / "cpu.max");  // "max 100000", or the quota's microseconds
    double quota_us = 0, period_us = 0;
    if (file >> quota_us >> period_us && quota_us > 0 && period_us > 0)
      least = std::min(least, std::max(1.0, std::floor(quota_us / period_us)));
  };
  look(root);
  std::filesystem::path folder = root;
  for (const auto& name : group) look(folder /= name);
  return int(least);
}

int usable_cores() {
  cpu_set_t allowed;  // of 1024 CPUs; the kernel refuses a set that is too small for the machine
  CPU_ZERO(&allowed);
  const bool known = sched_getaffinity(0, sizeof allowed, &allowed) == 0;
  const int cpus = known ? CPU_COUNT(&allowed) : int(std::thread::hardware_concurrency());
  return std::max(1, std::min(cpus, cores_of_quota("/sys/fs/cgroup", control_group())));
}

}  // namespace eckart
