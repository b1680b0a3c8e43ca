#include "bench/child.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace eckart::bench {
namespace {

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

std::string read_all(int descriptor) {
  std::string text;
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    if (count > 0) text.append(buffer.data(), std::size_t(count));
    if (count == 0 || (count < 0 && errno != EINTR)) return text;
  }
}

}  // namespace

Child::Ended Child::run(const std::vector<std::string>& arguments, const std::vector<int>& cpus) {
  if (stopped_) return {128 + SIGTERM, {}};
  std::vector<std::string> words{"eckart"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(cpu, &set);

  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0) fail("pipe");
  const pid_t process = ::fork();
  if (process < 0) fail("fork");
  if (process == 0) {  // calls nothing that a thread of the parent could hold a lock of
    ::dup2(pipe[1], STDOUT_FILENO);
    if (::sched_setaffinity(0, sizeof set, &set) == 0) ::execv("/proc/self/exe", argv.data());
    ::_exit(127);
  }
  ::close(pipe[1]);
  process_ = process;
  if (stopped_) ::kill(process, SIGTERM);
  Ended ended{.code = 0, .out = read_all(pipe[0])};
  ::close(pipe[0]);
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = 0;
  ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ended;
}

void Child::stop() {
  stopped_ = true;
  if (const pid_t process = process_) ::kill(process, SIGTERM);
}

}  // namespace eckart::bench
