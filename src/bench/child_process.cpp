#include "bench/child_process.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "files/file_descriptor.hpp"
#include "files/throw_errno.hpp"

namespace eckart::bench {
namespace {

std::string read_all(int descriptor) {
  std::string text;
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    if (count > 0) text.append(buffer.data(), std::size_t(count));
    if (count == 0 || (count < 0 && errno != EINTR)) return text;
  }
}

/// Blocks all signals for this thread and for a process that it forks. That process still has the
/// signal handlers of the parent, in which a signal for the child would be lost.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

  /// To be called in the forked process. A signal that arrived meanwhile then ends it, as it would
  /// end the program that it becomes.
  void restore_default_handlers() const {
    for (const int signal : {SIGHUP, SIGINT, SIGTERM}) {
      struct sigaction action {};
      ::sigaction(signal, nullptr, &action);
      if (action.sa_handler != SIG_IGN) ::signal(signal, SIG_DFL);
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t before_;
};

/// The path of the running program, so that ps shows its name; /proc/self/exe if the file was
/// replaced meanwhile.
std::string executable_path() {
  std::error_code ignored;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", ignored);
  return !path.empty() && std::filesystem::exists(path, ignored) ? path.native() : "/proc/self/exe";
}

/// Runs after fork(), so it calls no function that may need a lock that another thread of the
/// parent held.
[[noreturn]] void exec_program(const char* program, char* const* argv, const cpu_set_t& cpus,
                               int output, int err, pid_t parent, const BlockedSignals& signals) {
  ::setpgid(0, 0);  // Ctrl-C of a terminal goes only to the parent, which forwards it
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(128 + SIGTERM);  // the parent has already ended
  ::dup2(output, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  signals.restore_default_handlers();
  if (::sched_setaffinity(0, sizeof cpus, &cpus) == 0) ::execv(program, argv);
  ::_exit(127);
}

}  // namespace

ChildProcess::ExitResult ChildProcess::run(const std::vector<std::string>& arguments,
                                           const std::vector<int>& cpus,
                                           const std::filesystem::path& stderr_file) {
  std::vector<std::string> words{"eckart"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(cpu, &set);

  const files::FileDescriptor errors(
      ::open(stderr_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!errors) files::throw_errno("open");
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0) files::throw_errno("pipe");
  const files::FileDescriptor read_end(pipe[0]);
  files::FileDescriptor write_end(pipe[1]);
  const pid_t parent = ::getpid();
  const std::string program = executable_path();
  ::signal(SIGCHLD, SIG_DFL);  // the parent may have ignored it; then the exit code would be lost
  {
    const std::lock_guard lock(mutex_);
    if (is_stopped_) return {128 + SIGTERM, {}};
    const BlockedSignals signals;
    process_ = ::fork();
    if (process_ == 0)
      exec_program(program.c_str(), argv.data(), set, write_end.get(), errors.get(), parent,
                   signals);
    if (process_ < 0) files::throw_errno("fork");
  }
  write_end = files::FileDescriptor();
  std::string output = read_all(read_end.get());
  return {wait_for_exit(), std::move(output)};
}

int ChildProcess::wait_for_exit() {
  siginfo_t ended;
  while (::waitid(P_PID, id_t(process_), &ended, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
  const std::lock_guard lock(mutex_);  // after waitpid() the number may belong to another process
  int status = 0;
  if (::waitpid(std::exchange(process_, 0), &status, 0) < 0) files::throw_errno("waitpid");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void ChildProcess::stop() {
  const std::lock_guard lock(mutex_);
  is_stopped_ = true;
  if (process_ > 0) ::kill(process_, SIGTERM);
}

}  // namespace eckart::bench
