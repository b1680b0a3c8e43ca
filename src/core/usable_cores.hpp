#pragma once

#include <filesystem>

namespace eckart {

/// Logical CPUs that this process may use, at least 1: those of the machine, or of what taskset, a
/// container or systemd's AllowedCPUs and CPUQuota leave of it. A part of one counts as one.
int usable_cores();

/// Those for whose time the quotas of a control group (version 2, mounted at `root`) and the groups
/// above it suffice, rounded up; the largest int where there is no quota.
int cores_of_quota(const std::filesystem::path& root, const std::filesystem::path& group);

}  // namespace eckart
