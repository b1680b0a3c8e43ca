#include "io/temporary_file.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <new>
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

const std::string& this_host() {
  static const std::string host = host_name();
  return host;
}

/// Differs from call to call within a process, and between processes that share the folder.
std::string unique_name(const std::filesystem::path& name) {
  static std::atomic<std::uint64_t> calls{0};
  std::array<char, 17> hash{};
  std::snprintf(hash.data(), hash.size(), "%016zx", std::hash<std::string>{}(name.native()));
  return ".eckart-" + std::string(hash.data()) + "-" + this_host() + "-" +
         std::to_string(::getpid()) + "-" + std::to_string(calls++) + ".tmp";
}

/// The process that made the file of this name; 0 where it is no temporary of this host.
pid_t maker_of(const std::string& name) {
  constexpr std::size_t kHash = 16;
  const std::string prefix = ".eckart-", middle = "-" + this_host() + "-", suffix = ".tmp";
  const std::size_t begin = prefix.size() + kHash + middle.size();
  if (name.size() < begin + suffix.size() || !name.starts_with(prefix) || !name.ends_with(suffix) ||
      name.compare(prefix.size() + kHash, middle.size(), middle) != 0)
    return 0;
  pid_t process = 0;
  const char* end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data() + begin, end, process);
  return error == std::errc() && rest != end && *rest == '-' ? process : 0;
}

bool is_gone(pid_t process) { return ::kill(process, 0) != 0 && errno == ESRCH; }

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

void remove_stale_temporaries(const std::filesystem::path& folder) noexcept {
  try {
    std::error_code error;
    std::filesystem::directory_iterator entry(folder, error), none;
    for (; !error && entry != none; entry.increment(error)) {
      const pid_t maker = maker_of(entry->path().filename().native());
      if (maker > 0 && is_gone(maker)) ::unlink(entry->path().c_str());
    }
  } catch (const std::bad_alloc&) {  // the next run may have more memory
  }
}

}  // namespace eckart::io
