#include "cluster/command.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "core/error.hpp"
#include "files/file_descriptor.hpp"
#include "files/throw_errno.hpp"

namespace eckart::cluster {
namespace {

struct Pipe {
  files::FileDescriptor read_end, write_end;
};

Pipe make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) files::throw_errno("pipe");
  return {files::FileDescriptor(ends[0]), files::FileDescriptor(ends[1])};
}

/// Reads once; closes the descriptor at its end.
void read_some(files::FileDescriptor& descriptor, std::string& text) {
  std::array<char, 4096> buffer;
  const ssize_t count = ::read(descriptor.get(), buffer.data(), buffer.size());
  if (count > 0) text.append(buffer.data(), std::size_t(count));
  if (count == 0 || (count < 0 && errno != EINTR)) descriptor = files::FileDescriptor();
}

void read_until_closed(files::FileDescriptor& out, files::FileDescriptor& err,
                       CommandResult& result) {
  while (out || err) {
    pollfd ends[] = {{out.get(), POLLIN, 0}, {err.get(), POLLIN, 0}};  // -1 is left out
    if (::poll(ends, 2, -1) < 0) {
      if (errno == EINTR) continue;
      files::throw_errno("poll");
    }
    if (ends[0].revents != 0) read_some(out, result.out);
    if (ends[1].revents != 0) read_some(err, result.err);
  }
}

/// The program gets no blocked signals, and a process group of its own: Ctrl-C of a terminal goes
/// to this process only.
pid_t spawn(const std::vector<std::string>& arguments, int out, int err) {
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (const std::string& word : arguments) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none, ended;
  ::sigemptyset(&none);
  ::sigemptyset(&ended);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::sigaddset(&ended, signal);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &ended);
  ::posix_spawnattr_setflags(
      &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  pid_t process = 0;
  const int error = ::posix_spawnp(&process, argv[0], &actions, &attributes, argv.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error == ENOENT)
    throw FatalError(ExitCode::unavailable, arguments[0] + " is not installed, or not in PATH");
  if (error != 0) throw std::system_error(error, std::generic_category(), arguments[0]);
  return process;
}

}  // namespace

CommandResult run_command(const std::vector<std::string>& arguments) {
  Pipe out = make_pipe(), err = make_pipe();
  const pid_t process = spawn(arguments, out.write_end.get(), err.write_end.get());
  out.write_end = files::FileDescriptor();  // the program has the only ends for writing
  err.write_end = files::FileDescriptor();
  CommandResult result;
  read_until_closed(out.read_end, err.read_end, result);
  int status = 0;
  while (::waitpid(process, &status, 0) < 0) {
    if (errno != EINTR) files::throw_errno("waitpid");
  }
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace eckart::cluster
