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

#include "tests/support/wait_for.hpp"

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

/// Returns pointers to the strings and the null pointer that ends an array for exec.
std::vector<char*> exec_array(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& text : strings) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Returns the environment with these variables added or replaced, as NAME=value.
std::vector<std::string> environment_with(const std::map<std::string, std::string>& added) {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    if (!added.contains(text.substr(0, text.find('=')))) variables.push_back(text);
  }
  for (const auto& [name, value] : added) variables.push_back(name + "=" + value);
  return variables;
}

void redirect(int stream, const std::string& path, int flags) {
  const int file = open(path.c_str(), flags, 0666);
  if (file < 0 || dup2(file, stream) < 0) _exit(127);
  close(file);
}

}  // namespace

EckartProcess::EckartProcess(const std::vector<std::string>& arguments, const Options& options)
    : folder_(options.folder), name_(next_process_name()) {
  std::ofstream(stream_file("in")) << options.in;
  std::vector<std::string> argument_texts = arguments;
  argument_texts.insert(argument_texts.begin(), "eckart");
  const std::vector<char*> argv = exec_array(argument_texts);
  // The configuration folder: files of the current user are ignored.
  std::map<std::string, std::string> added = {{"XDG_CONFIG_HOME", folder_ / "config"}};
  if (!options.fault.empty()) {
    added["ECKART_FAULT"] = options.fault;
    added["LD_PRELOAD"] = ECKART_FAULT_INJECTION;
    added["ASAN_OPTIONS"] = "verify_asan_link_order=0";
  }
  for (const auto& [name, value] : options.environment) added[name] = value;
  std::vector<std::string> variables = environment_with(added);
  const std::vector<char*> envp = exec_array(variables);
  const std::string in = stream_file("in"), out = stream_file("out"), err = stream_file("err");

  int pty_end = -1;  // the terminal end of the program
  if (options.on_terminal) {
    if (openpty(&terminal_, &pty_end, nullptr, nullptr, nullptr) != 0)
      throw std::runtime_error("no terminal");
    fcntl(terminal_, F_SETFD, FD_CLOEXEC);
    fcntl(terminal_, F_SETFL, O_NONBLOCK);
    if (write(terminal_, options.in.data(), options.in.size()) != ssize_t(options.in.size()))
      throw std::runtime_error("cannot type on the terminal");
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
  // Another thread of this test may have held the lock of the heap: from here on, no memory is
  // allocated. A shell without job control ignores SIGINT for background processes.
  ::signal(SIGHUP, SIG_DFL);
  ::signal(SIGINT, SIG_DFL);
  ::signal(SIGTERM, SIG_DFL);
  redirect(0, in, O_RDONLY);
  redirect(1, out, O_WRONLY | O_CREAT | O_TRUNC);
  redirect(2, err, O_WRONLY | O_CREAT | O_TRUNC);
  if (options.on_terminal) {
    for (const int stream : {0, 1, 2}) {
      if (dup2(pty_end, stream) < 0) _exit(127);
    }
    close(pty_end);
  }
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
  fexecve(program, argv.data(), envp.data());
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
  if (!wait_for([this] { return has_ended(); }))
    throw std::runtime_error("eckart did not end; it wrote: " + err());
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
