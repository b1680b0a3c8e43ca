#pragma once
#include <fcntl.h>
#include <sys/resource.h>

#include "files/file_descriptor.hpp"
#include "files/throw_errno.hpp"

namespace eckart::test {

/// While it lives, this process cannot open files: EMFILE. UBSan opens a pipe for the first virtual
/// call to a type, and then reports that the type is wrong.
class NoFreeDescriptors {
 public:
  /// Throws std::system_error.
  NoFreeDescriptors() : NoFreeDescriptors(0) {}
  NoFreeDescriptors(const NoFreeDescriptors&) = delete;
  NoFreeDescriptors& operator=(const NoFreeDescriptors&) = delete;
  ~NoFreeDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 protected:
  explicit NoFreeDescriptors(rlim_t limit) {
    if (::getrlimit(RLIMIT_NOFILE, &before_) != 0) files::throw_errno("getrlimit");
    const rlimit lowered{limit, before_.rlim_max};
    if (::setrlimit(RLIMIT_NOFILE, &lowered) != 0) files::throw_errno("setrlimit");
  }

 private:
  rlimit before_{};
};

/// While it lives, this process can open only one file at a time.
class OneFreeDescriptor : public NoFreeDescriptors {
 public:
  /// Throws std::system_error.
  OneFreeDescriptor() : NoFreeDescriptors(rlim_t(lowest_free()) + 1) {}

 private:
  static int lowest_free() { return files::FileDescriptor(::open("/", O_PATH | O_CLOEXEC)).get(); }
};

}  // namespace eckart::test
