#include "cli/restart.hpp"

#include <linux/close_range.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include "core/error.hpp"

namespace eckart::cli {
namespace {

constexpr const char* kRestarts = "ECKART_RESTARTS";
constexpr int kMostRestarts = 3;

/// As the process was given them, each with a 0 after it.
std::string arguments() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

int restarts() {
  const char* text = std::getenv(kRestarts);
  return text ? std::atoi(text) : 0;
}

void start_again(const std::string& why) {
  const int number = restarts() + 1;
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
  ::setenv(kRestarts, std::to_string(number).c_str(), 1);
  std::fflush(stdout);
  // What the driver has open goes with this process, and its memory with that.
  ::close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  ::execv("/proc/self/exe", argv.data());
  throw give_up(std::string("cannot start again: ") + std::strerror(errno));
}

}  // namespace eckart::cli
