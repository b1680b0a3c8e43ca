#pragma once

#include <algorithm>

namespace eckart {

// Threads of the stages on a machine with so many cores, where `threads.load`, `threads.write` and
// `cpu.lanes` are auto. Writing costs more than loading (see docs/explanation/performance.md): one
// and a half times of photographs, more of small images, so the writers get more threads; two at
// least, since one waits for the disk now and then. Together they are more than the cores, so that
// either may have most of these.

constexpr int default_load_threads(int cores) { return (cores + 1) / 2; }
constexpr int default_write_threads(int cores) { return std::max(2, cores * 3 / 4); }

constexpr int default_cpu_lanes(int cores) { return cores; }

}  // namespace eckart
