#pragma once

#include <cstdint>
#include <filesystem>

namespace eckart::machine {

/// Bytes of memory that this process may use: those of the machine, limited by a container, by
/// MemoryHigh and MemoryMax of systemd, or by the memory of a task of Slurm.
std::int64_t usable_memory_bytes();

/// Bytes of memory that programs can take without swapping; the kernel's estimate in `meminfo`,
/// which counts caches of files. 0 if it has none.
std::int64_t available_memory_bytes(const std::filesystem::path& meminfo = "/proc/meminfo");

/// The bytes that the limits of a control group and of the groups above it allow; the largest
/// std::int64_t if there is no limit. `root` is the mount point of cgroup version 2.
std::int64_t cgroup_memory_limit(const std::filesystem::path& root,
                                 const std::filesystem::path& group);

}  // namespace eckart::machine
