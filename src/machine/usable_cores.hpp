#pragma once

#include <filesystem>

namespace eckart::machine {

/// Number of logical CPUs that this process may use, at least 1: those of the machine, limited by
/// taskset, a container, AllowedCPUs and CPUQuota of systemd, or a task of Slurm. A quota is
/// rounded down to whole CPUs, so that a process that uses up its quota counts as saturated.
int usable_cores();

/// The number of whole CPUs that the quotas of a control group and of the groups above it allow, at
/// least 1; the largest int if there is no quota. `root` is the mount point of cgroup version 2.
int cgroup_core_limit(const std::filesystem::path& root, const std::filesystem::path& group);

}  // namespace eckart::machine
