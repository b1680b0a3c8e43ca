#pragma once

#include <functional>
#include <string>
#include <vector>

namespace eckart::bench {

/// The CPUs that this process may use, in the best order for programs with few threads: one CPU of
/// each core before the second of any core.
std::vector<int> cpus_by_core();

/// The first `cores` of them; all if that is 0. Throws FatalError(usage) if there are fewer.
std::vector<int> first_cpus_by_core(int cores);

/// The calling thread, and the threads that it starts later, use only these CPUs. Throws
/// std::system_error.
void use_cpus(const std::vector<int>& cpus);

/// The same order for given CPUs. `siblings` returns the CPUs of one core as in
/// /sys/devices/system/cpu/cpu0/topology/thread_siblings_list, such as "0,64" or "0-1"; empty if
/// unknown.
std::vector<int> cpus_by_core(const std::vector<int>& cpus,
                              const std::function<std::string(int cpu)>& siblings);

}  // namespace eckart::bench
