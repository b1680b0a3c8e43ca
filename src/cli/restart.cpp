#include "cli/restart.hpp"

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
#include <system_error>
#include <vector>

#include "core/error.hpp"

namespace eckart::cli {
namespace {

// PID:NUMBER:RUN, so that only the process that was replaced passes it on.
constexpr const char* kRestarts = "ECKART_RESTARTS";
constexpr int kMostRestarts = 3;

/// As the process was given them, each with a 0 after it.
std::string arguments() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

std::set<int> open_descriptors() {
  std::set<int> descriptors;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", none))
    descriptors.insert(std::atoi(entry.path().filename().c_str()));
  std::erase_if(descriptors, [](int descriptor) {  // by which the folder was read
    return ::fcntl(descriptor, F_GETFD) < 0;
  });
  return descriptors;
}

Restarted restarted() {
  const char* text = std::getenv(kRestarts);
  long process = 0;
  int number = 0;
  long long run = 0;
  if (!text || std::sscanf(text, "%ld:%d:%lld", &process, &number, &run) != 3) return {};
  return process == ::getpid() ? Restarted{number, run} : Restarted();
}

void start_again(const std::string& why, std::int64_t run, const std::set<int>& given) {
  const int number = restarted().times + 1;
  const auto give_up = [&](const std::string& reason) {
    return FatalError(ExitCode::temporary,
                      why + "; " + reason + "; the same command does the rest");
  };
  if (number > kMostRestarts)
    throw give_up("the GPU was lost " + std::to_string(number) + " times");
  spdlog::error("{}: the GPU is lost; starting again ({} of {})", why, number, kMostRestarts);
  std::string text = arguments();
  std::vector<char*> argv;
  for (char* argument = text.data(); argument < text.data() + text.size();
       argument += std::strlen(argument) + 1)
    argv.push_back(argument);
  argv.push_back(nullptr);
  const std::string told =
      std::to_string(::getpid()) + ":" + std::to_string(number) + ":" + std::to_string(run);
  ::setenv(kRestarts, told.c_str(), 1);
  std::fflush(stdout);
  // What the driver has open goes with this process, and its memory with that; what the caller
  // has given stays.
  for (const int descriptor : open_descriptors()) {
    if (!given.contains(descriptor)) ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  }
  ::execv("/proc/self/exe", argv.data());
  throw give_up(std::string("cannot start again: ") + std::strerror(errno));
}

}  // namespace eckart::cli
