#pragma once

#include <stdexcept>
#include <string>

#include "core/outcome.hpp"

namespace eckart {

/// What the process answers to its caller; numbers from 64 on follow BSD's sysexits.h.
enum class ExitCode : int {
  ok = 0,
  some_failed = 3,        ///< finished, but some inputs failed
  usage = 64,             ///< the command line is wrong
  nothing_readable = 65,  ///< none of the inputs could be read
  no_input = 66,          ///< no input exists
  unavailable = 69,       ///< the backend asked for is not available
  internal = 70,          ///< a bug
  cannot_create = 73,     ///< an output cannot be created
  io_error = 74,          ///< an output cannot be written
  temporary = 75,         ///< a lost GPU, say: the same command may succeed when started again
  no_permission = 77,
  configuration = 78,
  hung_up = 129,      ///< SIGHUP, after a clean drain
  interrupted = 130,  ///< SIGINT, likewise
  terminated = 143,   ///< SIGTERM, likewise
};

/// One image's failure: it costs this image and nothing else.
class ItemError : public std::runtime_error {
 public:
  ItemError(FailureReason reason, const std::string& detail)
      : std::runtime_error(detail), reason_(reason) {}
  FailureReason reason() const { return reason_; }

 private:
  FailureReason reason_;
};

/// The machine's failure: no space, no descriptors, a broken disk. No image is to blame, so none is
/// called failed: the run takes nothing new in and ends with ExitCode::io_error.
class EnvironmentError : public std::runtime_error {
 public:
  /// What it takes for the same to succeed: mending, room on the disk, or that the process gives
  /// some of its descriptors or memory back.
  enum class Remedy { manual_repair, free_disk_space, release_resources };
  explicit EnvironmentError(const std::string& message, Remedy remedy = Remedy::manual_repair)
      : std::runtime_error(message), remedy_(remedy) {}
  Remedy remedy() const { return remedy_; }

 private:
  Remedy remedy_;
};

/// The process's failure: the run is aborted and ends with `code`.
class FatalError : public std::runtime_error {
 public:
  FatalError(ExitCode code, const std::string& message)
      : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

/// What computes is lost, a GPU's context that an error has made useless, say: a new process may
/// have it again.
class DeviceLostError : public FatalError {
 public:
  explicit DeviceLostError(const std::string& message) : FatalError(ExitCode::temporary, message) {}
};

}  // namespace eckart
