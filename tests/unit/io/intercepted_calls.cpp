#include "tests/unit/io/intercepted_calls.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <utility>
#include <vector>

extern "C" {

int renameat2(int from_folder, const char* from, int to_folder, const char* to,
              unsigned flags) noexcept {
  if (const auto act = std::exchange(eckart::test::before_rename, {})) act();
  errno = eckart::test::on_rename ? eckart::test::on_rename(to) : 0;
  if (errno != 0) return -1;
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

dirent* readdir(DIR* folder) {
  static const auto real = reinterpret_cast<dirent* (*)(DIR*)>(::dlsym(RTLD_NEXT, "readdir"));
  dirent* const entry = real(folder);
  if (!entry && eckart::test::readdir_error != 0) errno = eckart::test::readdir_error;
  return entry;
}

ssize_t writev(int descriptor, const iovec* parts, int count) {
  if (eckart::test::interrupted_writes > 0) {
    --eckart::test::interrupted_writes;
    errno = EINTR;
    return -1;
  }
  std::vector<iovec> some(parts, parts + count);
  std::size_t left = eckart::test::max_written.value_or(SIZE_MAX);
  for (iovec& part : some) {
    part.iov_len = std::min(part.iov_len, left);
    left -= part.iov_len;
  }
  return ::syscall(SYS_writev, descriptor, some.data(), count);
}

}  // extern "C"
