#include "machine/running_threads.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>

namespace eckart::machine {
namespace {

/// Whether a line of /proc/PID/task/TID/stat is of a running thread: "TID (NAME) R ...". The name
/// may have any characters.
bool is_running(const std::string& stat) {
  const std::size_t name_end = stat.rfind(") ");
  return name_end != std::string::npos && stat.compare(name_end + 2, 1, "R") == 0;
}

}  // namespace

int running_threads(pid_t process) {
  int running = 0;
  const std::string self = std::to_string(::gettid());
  std::error_code error;  // the process or a thread may end at any time
  for (std::filesystem::directory_iterator
           task("/proc/" + std::to_string(process) + "/task", error),
       end;
       !error && task != end; task.increment(error)) {
    if (task->path().filename() == self) continue;
    std::string stat;
    std::getline(std::ifstream(task->path() / "stat"), stat);
    if (is_running(stat)) ++running;
  }
  return running;
}

void wait_until_idle(std::span<const pid_t> processes, std::chrono::milliseconds longest) {
  constexpr std::chrono::microseconds kPause(200);
  const auto end = std::chrono::steady_clock::now() + longest;
  while (std::any_of(processes.begin(), processes.end(),
                     [](pid_t process) { return running_threads(process) > 0; }) &&
         std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(kPause);
}

}  // namespace eckart::machine
