#include "tests/unit/io/intercepted_calls.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

extern "C" {

int renameat2(int from_folder, const char* from, int to_folder, const char* to,
              unsigned flags) noexcept {
  if (const auto act = std::exchange(eckart::test::before_rename, {})) act();
  return int(::syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
}

int fsync(int descriptor) {
  const int error = eckart::test::on_fsync ? eckart::test::on_fsync(descriptor) : 0;
  if (error == 0) return int(::syscall(SYS_fsync, descriptor));
  errno = error;
  return -1;
}

int unlinkat(int folder, const char* name, int flags) noexcept {
  const int error = eckart::test::on_unlink ? eckart::test::on_unlink(name) : 0;
  if (error == 0) return int(::syscall(SYS_unlinkat, folder, name, flags));
  errno = error;
  return -1;
}

}  // extern "C"
