#pragma once

#include <sys/types.h>

#include <span>

namespace eckart::machine {

/// The threads of a process that run or wait for a core, without the calling one. 0 if there is no
/// such process.
int running_threads(pid_t process);

/// Waits until no thread of these processes runs except the calling one, for 100 ms at most. Idle
/// threads of OpenBLAS and OpenMP wait for work in loops for some time, which disturbs what is
/// measured next.
void wait_until_idle(std::span<const pid_t> processes);

}  // namespace eckart::machine
