#pragma once

#include <filesystem>

namespace eckart {

/// Logical CPUs that this process may use, at least 1: those of the machine, or of what taskset, a
/// container or systemd's AllowedCPUs and CPUQuota leave of it. Of a quota whole ones count, and at
/// least one: of them it is saturated where it has used its quota up.
int usable_cores();

/// Those that the quotas of a control group (version 2, mounted at `root`) and the groups above it
/// pay for in whole, at least 1; the largest int where there is no quota.
int cgroup_core_limit(const std::filesystem::path& root, const std::filesystem::path& group);

}  // namespace eckart
