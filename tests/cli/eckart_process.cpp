#include "tests/cli/eckart_process.hpp"

#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace eckart::test {
namespace {

constexpr uid_t kNobody = 65534;

std::string next_process_name() {
  static std::atomic<int> count = 0;
  return ".program" + std::to_string(count++);
}

std::string contents(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

void redirect(int stream, const std::filesystem::path& path, int flags) {
  const int file = open(path.c_str(), flags, 0666);
  if (file < 0 || dup2(file, stream) < 0) _exit(127);
  close(file);
}

}  // namespace

EckartProcess::EckartProcess(const std::vector<std::string>& arguments, const Options& options)
    : folder_(options.folder), name_(next_process_name()) {
  std::ofstream(stream_file("in")) << options.in;
  std::vector<char*> argv = {const_cast<char*>("eckart")};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  int pty_end = -1;  // the terminal end of the program
  if (options.on_terminal) {
    if (openpty(&terminal_, &pty_end, nullptr, nullptr, nullptr) != 0)
      throw std::runtime_error("no terminal");
    fcntl(terminal_, F_SETFD, FD_CLOEXEC);
    fcntl(terminal_, F_SETFL, O_NONBLOCK);
  }
  const int program =
      open(options.program.c_str(), O_RDONLY | O_CLOEXEC);  // the user nobody may not have access
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("cannot fork");
  if (pid_ > 0) {
    close(program);
    if (pty_end >= 0) close(pty_end);
    return;
  }
  // A shell without job control ignores SIGINT for background processes.
  ::signal(SIGHUP, SIG_DFL);
  ::signal(SIGINT, SIG_DFL);
  ::signal(SIGTERM, SIG_DFL);
  redirect(0, stream_file("in"), O_RDONLY);
  redirect(1, stream_file("out"), O_WRONLY | O_CREAT | O_TRUNC);
  redirect(2, stream_file("err"), O_WRONLY | O_CREAT | O_TRUNC);
  if (options.on_terminal && (dup2(pty_end, 1) < 0 || dup2(pty_end, 2) < 0 || close(pty_end) != 0))
    _exit(127);
  if (options.closed_streams) {
    for (const int stream : {0, 1, 2}) close(stream);
  }
  if (options.address_space_mb > 0) {
    const rlim_t bytes = rlim_t(options.address_space_mb) << 20;
    const rlimit limit{bytes, bytes};
    setrlimit(RLIMIT_AS, &limit);
  }
  if (options.open_files > 0) {
    const rlimit limit{rlim_t(options.open_files), rlim_t(options.open_files)};
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  if (chdir(folder_.c_str()) != 0) _exit(127);
  if (options.as_nobody && setuid(kNobody) != 0) _exit(127);
  setenv("XDG_CONFIG_HOME", (folder_ / "config").c_str(), 1);  // ignore files of the current user
  if (!options.fault.empty()) {
    setenv("ECKART_FAULT", options.fault.c_str(), 1);
    setenv("LD_PRELOAD", ECKART_FAULT_INJECTION, 1);
    setenv("ASAN_OPTIONS", "verify_asan_link_order=0", 1);
  }
  for (const auto& [name, value] : options.environment) setenv(name.c_str(), value.c_str(), 1);
  fexecve(program, argv.data(), environ);
  _exit(127);
}

EckartProcess::~EckartProcess() {
  if (terminal_ >= 0) close(terminal_);
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void EckartProcess::signal(int number) { kill(pid_, number); }

bool EckartProcess::has_ended() const {
  siginfo_t info{};
  return waitid(P_PID, id_t(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid_;
}

std::chrono::nanoseconds EckartProcess::cpu_time() const {
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(pid_, &clock) != 0 || clock_gettime(clock, &time) != 0)
    throw std::runtime_error("the CPU time of a process cannot be read");
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

std::string EckartProcess::err() const { return contents(stream_file("err")); }

std::string EckartProcess::terminal_output() {
  char bytes[4096];
  for (ssize_t count; (count = read(terminal_, bytes, sizeof bytes)) > 0;)
    terminal_output_.append(bytes, std::size_t(count));
  return terminal_output_;
}

ProcessResult EckartProcess::wait() {
  int status = 0;
  if (waitpid(pid_, &status, 0) != pid_) throw std::runtime_error("cannot wait");
  pid_ = 0;
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), contents(stream_file("out")),
          err()};
}

std::filesystem::path EckartProcess::stream_file(const char* stream) const {
  return folder_ / (name_ + "." + stream);
}

}  // namespace eckart::test
