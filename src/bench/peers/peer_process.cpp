#include "bench/peers/peer_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>

#include "bench/peers/peer_script.hpp"
#include "files/throw_errno.hpp"

namespace eckart::bench {
namespace {

// File descriptors of the child process. Those of the parent are larger.
constexpr int kSharedMemory = 3, kScript = 4, kFirstOfParent = 10;

files::FileDescriptor moved(int descriptor) {
  const files::FileDescriptor small(descriptor);
  if (!small) files::throw_errno("memfd_create");
  files::FileDescriptor large(::fcntl(small.get(), F_DUPFD_CLOEXEC, kFirstOfParent));
  if (!large) files::throw_errno("fcntl");
  return large;
}

files::FileDescriptor make_memory_file(const char* name) {
  return moved(::memfd_create(name, MFD_CLOEXEC));
}

files::FileDescriptor make_script_file() {
  files::FileDescriptor file = make_memory_file("eckart-peers.py");
  if (::write(file.get(), kPeerScript.data(), kPeerScript.size()) != ssize_t(kPeerScript.size()))
    files::throw_errno("write");
  return file;
}

/// Starts the script with these file descriptors for stdin and stdout, stderr, and shared memory.
/// Ctrl-C of a terminal does not reach it.
pid_t spawn(const std::string& python, int socket, int errors, int memory) {
  const files::FileDescriptor script = make_script_file();
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  for (const auto& [from, to] : {std::pair(socket, STDIN_FILENO),
                                 {socket, STDOUT_FILENO},
                                 {errors, STDERR_FILENO},
                                 {memory, kSharedMemory},
                                 {script.get(), kScript}})
    ::posix_spawn_file_actions_adddup2(&actions, from, to);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  std::string program = python, file = "/proc/self/fd/" + std::to_string(kScript);
  std::array<char*, 3> arguments = {program.data(), file.data(), nullptr};
  pid_t process = 0;
  const int error =
      ::posix_spawnp(&process, python.c_str(), &actions, &attributes, arguments.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    throw std::runtime_error(python + " does not start: " + std::generic_category().message(error));
  return process;
}

/// Also what it has started.
void kill_group(pid_t process) { ::kill(-process, SIGKILL); }

}  // namespace

PeerProcess::PeerProcess(const std::string& python, const std::stop_token& stop)
    : errors_(make_memory_file("eckart-peers-errors")),
      memory_(make_memory_file("eckart-peers-arrays")) {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
    files::throw_errno("socketpair");
  socket_ = files::FileDescriptor(pair[0]);
  const files::FileDescriptor other_end = moved(pair[1]);
  process_ = spawn(python, other_end.get(), errors_.get(), memory_.get());
  on_stop_.emplace(stop, [this] { kill_group(process_); });
}

PeerProcess::~PeerProcess() {
  on_stop_.reset();
  unmap();
  kill_group(process_);
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

text::Json PeerProcess::ask(const text::Json& request) {
  const std::string line = request.dump() + '\n';
  if (::send(socket_.get(), line.data(), line.size(), MSG_NOSIGNAL) != ssize_t(line.size()))
    throw std::runtime_error("python3 ended: " + last_words());
  const std::string text = read_line();
  text::Json answer = text::Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!answer.is_object()) throw std::runtime_error("Python answers: " + text);
  if (answer.contains("error")) throw std::runtime_error(answer["error"].get<std::string>());
  return answer;
}

std::string PeerProcess::read_line() {
  std::array<char, 4096> buffer;
  std::size_t end = 0;
  while ((end = received_.find('\n')) == std::string::npos) {
    const ssize_t count = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (count > 0) received_.append(buffer.data(), std::size_t(count));
    if (count == 0 || (count < 0 && errno != EINTR))
      throw std::runtime_error("python3 ended: " + last_words());
  }
  std::string line = received_.substr(0, end);
  received_.erase(0, end + 1);
  return line;
}

std::string PeerProcess::last_words() const {
  std::array<char, 4096> buffer;
  const off_t size = ::lseek(errors_.get(), 0, SEEK_END);
  const off_t begin = std::max(off_t(0), size - off_t(buffer.size()));
  const ssize_t count = ::pread(errors_.get(), buffer.data(), buffer.size(), begin);
  std::string text(buffer.data(), std::size_t(std::max(ssize_t(0), count)));
  while (text.ends_with('\n')) text.pop_back();
  return text.substr(text.rfind('\n') + 1);  // 0 if there is only one line
}

std::span<std::byte> PeerProcess::memory(std::size_t bytes) {
  if (bytes <= mapped_.size()) return mapped_;
  unmap();
  if (::ftruncate(memory_.get(), off_t(bytes)) != 0) files::throw_errno("ftruncate");
  void* mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory_.get(), 0);
  if (mapped == MAP_FAILED) files::throw_errno("mmap");
  mapped_ = {static_cast<std::byte*>(mapped), bytes};
  return mapped_;
}

void PeerProcess::unmap() {
  if (!mapped_.empty()) ::munmap(mapped_.data(), mapped_.size());
  mapped_ = {};
}

}  // namespace eckart::bench
