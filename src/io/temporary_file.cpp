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
#include <fstream>
#include <functional>
#include <mutex>
#include <new>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
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

/// When a process started, in ticks since the machine did (field 22 of proc(5)'s stat); 0 where it
/// cannot be told.
std::uint64_t start_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string stat, field;
  std::getline(file, stat);
  const std::size_t name_end = stat.rfind(')');  // the name, field 2, may hold anything
  if (name_end == stat.npos) return 0;
  std::istringstream fields(stat.substr(name_end + 1));
  for (int number = 3; number < 22; ++number) fields >> field;
  std::uint64_t start = 0;
  return fields >> start ? start : 0;
}

/// A process is known by its start as well: after a reboot its number is another's.
struct Maker {
  pid_t process = 0;
  std::uint64_t start = 0;
};

const Maker& this_process() {
  static const Maker maker{::getpid(), start_of(::getpid())};
  return maker;
}

/// Differs from call to call within a process, and between processes that share the folder.
std::string unique_name(const std::filesystem::path& name) {
  static std::atomic<std::uint64_t> calls{0};
  std::array<char, 17> hash{};
  std::snprintf(hash.data(), hash.size(), "%016zx", std::hash<std::string>{}(name.native()));
  const auto& [process, start] = this_process();
  return ".eckart-" + std::string(hash.data()) + "-" + this_host() + "-" + std::to_string(process) +
         "-" + std::to_string(start) + "-" + std::to_string(calls++) + ".tmp";
}

/// Takes a number and the '-' behind it from the front of the text.
template <class Number>
bool take_number(std::string_view& text, Number& number) {
  const auto [rest, error] = std::from_chars(text.begin(), text.end(), number);
  if (error != std::errc() || rest == text.end() || *rest != '-') return false;
  text = {rest + 1, text.end()};
  return true;
}

/// Who made the file of this name; process 0 where it is no temporary of this host.
Maker maker_of(const std::string& name) {
  constexpr std::size_t kHash = 16;
  const std::string prefix = ".eckart-", middle = "-" + this_host() + "-", suffix = ".tmp";
  const std::size_t begin = prefix.size() + kHash + middle.size();
  if (name.size() < begin + suffix.size() || !name.starts_with(prefix) || !name.ends_with(suffix) ||
      name.compare(prefix.size() + kHash, middle.size(), middle) != 0)
    return {};
  std::string_view rest = std::string_view(name).substr(begin);
  Maker maker;
  return take_number(rest, maker.process) && take_number(rest, maker.start) ? maker : Maker{};
}

bool is_gone(const Maker& maker) {
  if (::kill(maker.process, 0) != 0 && errno == ESRCH) return true;
  const std::uint64_t start = start_of(maker.process);
  return start != 0 && maker.start != 0 && start != maker.start;
}

/// What processes of this host that are gone have left in the folder. What cannot be removed stays.
void remove_stale_temporaries(const std::filesystem::path& folder) noexcept {
  try {
    std::error_code error;
    std::filesystem::directory_iterator entry(folder, error), none;
    for (; !error && entry != none; entry.increment(error)) {
      const Maker maker = maker_of(entry->path().filename().native());
      if (maker.process > 0 && is_gone(maker)) ::unlink(entry->path().c_str());
    }
  } catch (const std::bad_alloc&) {  // the next run may have more memory
  }
}

/// Of runs before this one, before the first file of this process is made in a folder.
void clean_once(const std::filesystem::path& folder) {
  static std::mutex mutex;
  static std::set<std::filesystem::path> known;
  {
    const std::lock_guard lock(mutex);
    if (!known.insert(folder).second) return;
  }
  remove_stale_temporaries(folder);
}

}  // namespace

TemporaryFile::TemporaryFile(const std::filesystem::path& folder,
                             const std::filesystem::path& name) {
  clean_once(folder);
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
