#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>

#include "files/file_descriptor.hpp"
#include "text/json.hpp"

namespace eckart::bench {

/// Python with the script tools/baselines/experiments.py, which describes the requests, as a child
/// process. It ends with this object, after a stop request, or when this process ends.
class PeerProcess {
 public:
  /// Starts `python`, searched in PATH. Throws std::runtime_error with the reason if it cannot run
  /// the script.
  PeerProcess(const std::string& python, const std::stop_token& stop);
  ~PeerProcess();
  PeerProcess(const PeerProcess&) = delete;
  PeerProcess& operator=(const PeerProcess&) = delete;

  pid_t process() const { return process_; }
  /// Sends a request and waits for its answer. Throws std::runtime_error with the reason if it is
  /// an error, or if the process has ended.
  text::Json ask(const text::Json& request);
  /// At least `bytes` bytes of memory that both processes share. Invalidates what it returned
  /// before. Throws std::system_error.
  std::span<std::byte> memory(std::size_t bytes);

 private:
  std::string read_line();
  /// What the process wrote to stderr last.
  std::string last_words() const;
  void unmap();

  files::FileDescriptor socket_, errors_, memory_;
  pid_t process_ = 0;
  std::string received_;  // of the next answer
  std::span<std::byte> mapped_;
  std::optional<std::stop_callback<std::function<void()>>> on_stop_;  // destroyed first
};

}  // namespace eckart::bench
