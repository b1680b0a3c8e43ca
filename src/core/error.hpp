#pragma once

#include <stdexcept>
#include <string>

#include "core/outcome.hpp"

namespace eckart {

/// Exit codes of the process. Values from 64 to 78 are those of sysexits.h.
enum class ExitCode : int {
  ok = 0,
  some_failed = 3,        ///< finished, but some inputs failed
  usage = 64,             ///< the command line is wrong
  nothing_readable = 65,  ///< no input could be read, or a file of this program is damaged
  no_input = 66,          ///< no input exists
  unavailable = 69,    ///< the requested backend is not available; top: no eckart process answers
  internal = 70,       ///< a bug; doctor: this machine computes wrong results
  cannot_create = 73,  ///< an output cannot be created
  io_error = 74,       ///< an output cannot be written
  temporary = 75,      ///< such as a lost GPU; the same command may succeed later
  no_permission = 77,
  configuration = 78,
  hung_up = 129,      ///< SIGHUP, after a clean drain
  interrupted = 130,  ///< SIGINT, after a clean drain
  terminated = 143,   ///< SIGTERM, after a clean drain
};

/// A failure of one image. It does not affect other images.
class ItemError : public std::runtime_error {
 public:
  ItemError(FailureReason reason, const std::string& detail)
      : std::runtime_error(detail), reason_(reason) {}
  FailureReason reason() const { return reason_; }

 private:
  FailureReason reason_;
};

/// An environment error: no space, no descriptors, a broken disk. No image counts as failed. A run
/// stops taking inputs and ends with ExitCode::io_error.
class EnvironmentError : public std::runtime_error {
 public:
  /// What must happen before a retry can succeed: repair by a person, more disk space, release of
  /// descriptors or memory by the process, or that a file system is mounted again.
  enum class Remedy { manual_repair, free_disk_space, release_resources, mount };
  explicit EnvironmentError(const std::string& message, Remedy remedy = Remedy::manual_repair)
      : std::runtime_error(message), remedy_(remedy) {}
  Remedy remedy() const { return remedy_; }

 private:
  Remedy remedy_;
};

/// A failure of the process. The run is aborted and ends with `code`.
class FatalError : public std::runtime_error {
 public:
  FatalError(ExitCode code, const std::string& message)
      : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

/// The device is lost, for example after an error that made the context of a GPU unusable. A new
/// process may be able to use it.
class DeviceLostError : public FatalError {
 public:
  explicit DeviceLostError(const std::string& message) : FatalError(ExitCode::temporary, message) {}
};

}  // namespace eckart
