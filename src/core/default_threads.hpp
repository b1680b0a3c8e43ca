#pragma once

#include <algorithm>

namespace eckart {

// The number of threads of each stage on a machine with `cores` cores, if the settings
// `threads.load`, `threads.write` and `cpu.lanes` are `auto`. A run adds load and write threads
// while that makes it faster (pipeline/thread_adaptation.hpp).
//
// Writing a photograph takes 1.5 times the core time of loading it; for small images the ratio is
// larger (docs/explanation/performance.md). So there are more write threads than load threads.
// There are at least two write threads, because a write thread sometimes waits for the disk. The
// sum of load and write threads exceeds the number of cores, so that one stage can use most of the
// cores while the other is idle.

constexpr int default_load_threads(int cores) { return (cores + 1) / 2; }
constexpr int default_write_threads(int cores) { return std::max(2, cores * 3 / 4); }

/// The largest number of load threads, and of write threads, that a run adds threads up to. Threads
/// that wait for a disk or a network use no core.
constexpr int max_auto_threads(int cores) { return std::max(8, 2 * cores); }

constexpr int default_cpu_lanes(int cores) { return cores; }

}  // namespace eckart
