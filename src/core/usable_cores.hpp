#pragma once

namespace eckart {

/// Logical CPUs that this process may use, at least 1: those of the machine, or of what taskset, a
/// container's cpuset or systemd's AllowedCPUs leaves of it.
int usable_cores();

}  // namespace eckart
