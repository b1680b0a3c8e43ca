#pragma once

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace eckart::files {

/// Owns a file descriptor; -1: none.
class FileDescriptor {
 public:
  explicit FileDescriptor(int number = -1) : number_(number) {}
  FileDescriptor(FileDescriptor&& other) noexcept : number_(other.release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~FileDescriptor() {
    if (number_ >= 0) ::close(number_);
  }

  int get() const { return number_; }
  int release() { return std::exchange(number_, -1); }
  explicit operator bool() const { return number_ >= 0; }

 private:
  int number_;
};

/// Calls fsync() on a file or folder. Returns false with errno after an error.
inline bool sync_descriptor(const FileDescriptor& descriptor) {
  int result = 0;
  do {
    result = ::fsync(descriptor.get());
  } while (result != 0 && errno == EINTR);
  return result == 0 || errno == EINVAL;  // EINVAL: the file system does not support fsync
}

}  // namespace eckart::files
