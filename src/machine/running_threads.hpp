#pragma once

#include <sys/types.h>

#include <chrono>
#include <span>

namespace eckart::machine {

/// The threads of a process that run or wait for a core, without the calling one. 0 if there is no
/// such process.
int running_threads(pid_t process);

/// Waits until no thread of these processes runs except the calling one, but not longer. Idle
/// threads of OpenBLAS and OpenMP wait for work in loops for some time, which disturbs what is
/// measured next.
void wait_until_idle(std::span<const pid_t> processes,
                     std::chrono::milliseconds longest = std::chrono::milliseconds(100));

}  // namespace eckart::machine
