#pragma once

#include <filesystem>
#include <vector>

namespace eckart::machine {

/// The mount point of control groups, version 2.
inline const std::filesystem::path kControlGroupRoot = "/sys/fs/cgroup";

/// Returns the control group (version 2) of this process, relative to the mount point; empty if it
/// is the root or unknown.
std::filesystem::path control_group();

/// Returns the folders of a control group and of the groups above it, whose limits also hold for
/// it: from `root`, the mount point, down to the group.
std::vector<std::filesystem::path> control_group_folders(const std::filesystem::path& root,
                                                         const std::filesystem::path& group);

}  // namespace eckart::machine
