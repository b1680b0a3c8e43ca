#include "bench/cpu_order.hpp"

#include <sched.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <utility>

#include "core/error.hpp"
#include "files/throw_errno.hpp"
#include "machine/usable_cores.hpp"

namespace eckart::bench {

std::vector<int> cpus_by_core(const std::vector<int>& cpus,
                              const std::function<std::string(int cpu)>& siblings) {
  std::map<std::string, int> seen_siblings;  // number of CPUs seen of each core
  std::vector<std::pair<int, int>> order;
  for (const int cpu : cpus) {
    const std::string core = siblings(cpu);
    order.emplace_back(core.empty() ? 0 : seen_siblings[core]++, cpu);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<int> sorted;
  sorted.reserve(order.size());
  for (const auto& [sibling_index, cpu] : order) sorted.push_back(cpu);
  return sorted;
}

std::vector<int> cpus_by_core() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &allowed)) cpus.push_back(cpu);
    }
  }
  cpus = cpus_by_core(cpus, [](int cpu) {
    std::string siblings;
    std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                       "/topology/thread_siblings_list");
    std::getline(file, siblings);
    return siblings;
  });
  cpus.resize(
      std::min(cpus.size(), std::size_t(machine::usable_cores())));  // a quota may allow fewer
  return cpus;
}

std::vector<int> first_cpus_by_core(int cores) {
  std::vector<int> cpus = cpus_by_core();
  if (cores > int(cpus.size()))
    throw FatalError(ExitCode::usage,
                     fmt::format("--cores {} exceeds the {} available cores", cores, cpus.size()));
  if (cores > 0) cpus.resize(std::size_t(cores));
  return cpus;
}

void use_cpus(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(cpu, &set);
  if (::sched_setaffinity(0, sizeof set, &set) != 0) files::throw_errno("sched_setaffinity");
}

}  // namespace eckart::bench
