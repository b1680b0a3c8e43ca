#include "cli/restart_process.hpp"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/error.hpp"

namespace eckart::cli {
namespace {

// PID:COUNT:RUN. The PID stays the same after a restart; a value with another PID is inherited and
// ignored.
constexpr const char* kRestartsVariable = "ECKART_RESTARTS";
constexpr int kMaxRestarts = 3;

/// Returns the arguments of this process, each with a null terminator.
std::string arguments() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Returns the environment of this process without `name`. Does not use setenv(), because a thread
/// of the GPU driver may read the environment.
std::vector<char*> environment_without(std::string_view name) {
  std::vector<char*> entries;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text = *entry;
    if (text.substr(0, text.find('=')) != name) entries.push_back(*entry);
  }
  return entries;
}

}  // namespace

std::set<int> open_descriptors() {
  std::set<int> descriptors;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", none))
    descriptors.insert(std::atoi(entry.path().filename().c_str()));
  std::erase_if(descriptors,
                [](int descriptor) {  // closed now: the descriptor of the folder itself
                  return ::fcntl(descriptor, F_GETFD) < 0;
                });
  return descriptors;
}

RestartInfo restart_info() {
  const char* text = std::getenv(kRestartsVariable);
  long process = 0;
  int number = 0;
  long long run_number = 0;
  if (!text || std::sscanf(text, "%ld:%d:%lld", &process, &number, &run_number) != 3) return {};
  return process == ::getpid() ? RestartInfo{number, run_number} : RestartInfo();
}

void restart_process(const std::string& why, std::int64_t run_number,
                     const std::set<int>& inherited) {
  const int number = restart_info().count + 1;
  const auto restart_error = [&](const std::string& reason) {
    return FatalError(ExitCode::temporary,
                      why + "; " + reason + "; run the same command again to finish");
  };
  if (number > kMaxRestarts)
    throw restart_error("the GPU was lost " + std::to_string(number) + " times");
  spdlog::error("{}: the GPU was lost; restarting ({} of {})", why, number, kMaxRestarts);
  std::string text = arguments();
  std::vector<char*> argv;
  for (char* argument = text.data(); argument < text.data() + text.size();
       argument += std::strlen(argument) + 1)
    argv.push_back(argument);
  argv.push_back(nullptr);
  const std::string value =
      std::to_string(::getpid()) + ":" + std::to_string(number) + ":" + std::to_string(run_number);
  std::vector<char*> environment = environment_without(kRestartsVariable);
  std::string entry = std::string(kRestartsVariable) + '=' + value;
  environment.push_back(entry.data());
  environment.push_back(nullptr);
  std::fflush(stdout);
  // Descriptors of the driver are closed, which frees its memory. Inherited descriptors stay open.
  for (const int descriptor : open_descriptors()) {
    if (!inherited.contains(descriptor)) ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  }
  ::execve("/proc/self/exe", argv.data(), environment.data());
  throw restart_error(std::string("cannot restart: ") + std::strerror(errno));
}

}  // namespace eckart::cli
