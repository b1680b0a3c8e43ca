#pragma once

#include <cerrno>
#include <string>

#include "files/out_of_space.hpp"

namespace eckart::io {

/// Throws EnvironmentError where opening failed because the process or the machine has no more of
/// what it takes.
inline void check_exhaustion(int error, const std::string& message) {
  if (error == EMFILE || error == ENFILE || error == ENOMEM)
    throw EnvironmentError(message, EnvironmentError::Remedy::release_resources);
}

/// Throws EnvironmentError where writing, or opening for it, failed for a reason that has nothing
/// to do with the file written: the next one would fail as well.
inline void check_environment(int error, const std::string& message) {
  check_exhaustion(error, message);
  throw_if_out_of_space(error, message);
  switch (error) {
    case EIO:
    case EROFS:
    case ENODEV:
    case ENXIO:
    case ESTALE:
    case EUCLEAN:
    case EBADMSG:
    case EREMOTEIO:
    case ENOLINK:
    case ENODATA:
    case ENOTCONN:
    case ECONNABORTED:
    case EHOSTDOWN:
    case ETIMEDOUT:
      throw EnvironmentError(message);
    default:
      break;
  }
}

/// What is to be written to cannot be made. Throws EnvironmentError as check_environment(), or else
/// FatalError: no_permission or cannot_create.
[[noreturn]] inline void fail_to_create(int error, const std::string& message) {
  check_environment(error, message);
  const bool forbidden = error == EACCES || error == EPERM;
  throw FatalError(forbidden ? ExitCode::no_permission : ExitCode::cannot_create, message);
}

}  // namespace eckart::io
