#pragma once
#include <sys/resource.h>

#include "files/throw_errno.hpp"

namespace eckart::test {

/// While it lives, this process cannot open files: EMFILE. UBSan opens a pipe for the first virtual
/// call to a type, and then reports that the type is wrong.
class NoFreeDescriptors {
 public:
  /// Throws std::system_error.
  NoFreeDescriptors() {
    if (::getrlimit(RLIMIT_NOFILE, &before_) != 0) files::throw_errno("getrlimit");
    const rlimit none{0, before_.rlim_max};
    if (::setrlimit(RLIMIT_NOFILE, &none) != 0) files::throw_errno("setrlimit");
  }
  NoFreeDescriptors(const NoFreeDescriptors&) = delete;
  NoFreeDescriptors& operator=(const NoFreeDescriptors&) = delete;
  ~NoFreeDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

}  // namespace eckart::test
