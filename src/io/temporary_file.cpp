#include "io/temporary_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <system_error>

namespace eckart::io {
namespace {

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

/// The host's name, as far as it fits into a file name.
std::string host_name() {
  std::array<char, 33> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 && errno != ENAMETOOLONG) return "host";
  for (char& c : name) {
    if (c == '/') c = '_';
  }
  return name.data();
}

/// Differs from call to call within a process, and between processes that share the folder.
std::string unique_name(const std::filesystem::path& name) {
  static const std::string host = host_name();
  static std::atomic<std::uint64_t> calls{0};
  std::array<char, 17> hash{};
  std::snprintf(hash.data(), hash.size(), "%016zx", std::hash<std::string>{}(name.native()));
  return ".eckart-" + std::string(hash.data()) + "-" + host + "-" + std::to_string(::getpid()) +
         "-" + std::to_string(calls++) + ".tmp";
}

}  // namespace

TemporaryFile::TemporaryFile(const std::filesystem::path& folder,
                             const std::filesystem::path& name) {
  // EEXIST: left by a dead process that had our number.
  do {
    path_ = folder / unique_name(name);
    descriptor_ = Descriptor(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  } while (!descriptor_ && (errno == EEXIST || errno == EINTR));
  if (!descriptor_) fail("cannot create a file");
}

TemporaryFile::~TemporaryFile() {
  if (!renamed_) ::unlink(path_.c_str());
}

void TemporaryFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot write");
    bytes = bytes.subspan(std::size_t(written));
  }
}

void TemporaryFile::start_writeback() noexcept {
  // Only a beginning: sync() reports what fails.
  static_cast<void>(::sync_file_range(descriptor_.get(), 0, 0, SYNC_FILE_RANGE_WRITE));
}

void TemporaryFile::sync() {
  if (!bring_to_disk(descriptor_)) fail("cannot sync");
}

void TemporaryFile::close() {
  // On Linux the descriptor is gone after EINTR as well.
  if (::close(descriptor_.release()) != 0 && errno != EINTR) fail("cannot close");
}

void TemporaryFile::rename_to(const std::filesystem::path& path) {
  if (::rename(path_.c_str(), path.c_str()) != 0) fail("cannot rename");
  renamed_ = true;
}

}  // namespace eckart::io
