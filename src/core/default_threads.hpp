#pragma once

#include <algorithm>

namespace eckart {

// The number of threads of each stage on a machine with `cores` cores, if the settings
// `threads.load`, `threads.write` and `cpu.lanes` are `auto`. A run adds load and write threads
// while that makes it faster (pipeline/thread_adaptation.hpp).
//
// A write thread waits for the disk, for the ledger and for other threads that create files in the
// same folder, so there are more of them than cores (docs/explanation/performance.md).

constexpr int default_load_threads(int cores) { return (cores + 1) / 2; }
constexpr int default_write_threads(int cores) { return std::max(2, cores * 3 / 2); }

/// The largest number of load threads, and of write threads, that a run adds threads up to. Threads
/// that wait for a disk or a network use no core.
constexpr int max_auto_threads(int cores) { return std::max(8, 2 * cores); }

constexpr int default_cpu_lanes(int cores) { return cores; }

}  // namespace eckart
