#pragma once

#include <functional>
#include <string>
#include <vector>

namespace eckart::bench {

/// The CPUs that this process may use, in the order in which a program with few threads had best be
/// given them: one of each core before the second of any.
std::vector<int> cpus_by_core();

/// Likewise, of these; `siblings` are those of one core: "0,64" or "0-1", as in
/// /sys/devices/system/cpu/cpu0/topology/thread_siblings_list; empty where that is not known.
std::vector<int> cpus_by_core(const std::vector<int>& cpus,
                              const std::function<std::string(int cpu)>& siblings);

}  // namespace eckart::bench
