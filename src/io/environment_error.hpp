#pragma once

#include <cerrno>
#include <string>

#include "files/out_of_space.hpp"

namespace eckart::io {

/// Throws EnvironmentError if opening failed because file descriptors or memory ran out.
inline void check_exhaustion(int error, const std::string& message) {
  if (error == EMFILE || error == ENFILE || error == ENOMEM)
    throw EnvironmentError(message, EnvironmentError::Remedy::release_resources);
}

/// Throws EnvironmentError if writing, or opening for writing, failed for a reason that does not
/// depend on the file, so that the next file would fail too.
inline void check_environment(int error, const std::string& message) {
  check_exhaustion(error, message);
  files::throw_if_out_of_space(error, message);
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

/// Reports that an output folder or file cannot be created. Throws EnvironmentError as
/// check_environment() does, otherwise FatalError: no_permission or cannot_create.
[[noreturn]] inline void fail_to_create(int error, const std::string& message) {
  check_environment(error, message);
  const bool forbidden = error == EACCES || error == EPERM;
  throw FatalError(forbidden ? ExitCode::no_permission : ExitCode::cannot_create, message);
}

}  // namespace eckart::io
