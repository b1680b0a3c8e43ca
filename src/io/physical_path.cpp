#include "io/physical_path.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>

#include "core/instant.hpp"
#include "files/file_descriptor.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;

/// A line of /proc/self/mountinfo, see proc(5).
struct Mount {
  std::string device;  // as text
  fs::path root;       // in the file system
  fs::path point;      // where `root` is mounted
};
using Mounts = std::map<std::uint64_t, Mount>;  // by ID

/// Decodes spaces and the like, which are written as three octal digits after a backslash.
std::string decoded(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      plain += char(std::stoi(text.substr(i + 1, 3), nullptr, 8));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

Mounts read_mounts() {
  Mounts mounts;
  std::ifstream file("/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::uint64_t id = 0, parent = 0;
    std::string device, root, point;
    if (words >> id >> parent >> device >> root >> point)
      mounts[id] = {device, decoded(root), decoded(point)};
  }
  return mounts;
}

/// Returns the mount with this ID, as it was up to a second ago.
std::optional<Mount> find_mount(std::uint64_t id) {
  constexpr std::chrono::seconds kMaxAge{1};
  static std::mutex mutex;
  static Mounts mounts;
  static Instant read_at;
  const std::lock_guard lock(mutex);
  if (!mounts.contains(id) || Clock::now() - read_at > kMaxAge) {
    mounts = read_mounts();
    read_at = Clock::now();
  }
  const auto found = mounts.find(id);
  return found == mounts.end() ? std::nullopt : std::optional(found->second);
}

files::FileDescriptor open_directory(const fs::path& path) {
  return files::FileDescriptor(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

/// Opens the nearest existing directory of a path.
files::FileDescriptor open_nearest(const fs::path& path) {
  std::error_code error;
  fs::path existing = fs::absolute(path, error);
  files::FileDescriptor directory = open_directory(existing);
  while (!directory && existing.has_relative_path()) {
    existing = existing.parent_path();
    directory = open_directory(existing);
  }
  return directory;
}

bool is_same_directory(int a, int b) {
  struct stat of_a {
  }, of_b{};
  return ::fstat(a, &of_a) == 0 && ::fstat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
         of_a.st_ino == of_b.st_ino;
}

}  // namespace

std::optional<PhysicalPath> physical_path(int directory) {
  struct statx status {};
  if (::statx(directory, "", AT_EMPTY_PATH, STATX_MNT_ID, &status) != 0 ||
      (status.stx_mask & STATX_MNT_ID) == 0)
    return std::nullopt;
  std::error_code error;
  const fs::path path = fs::read_symlink("/proc/self/fd/" + std::to_string(directory), error);
  const std::optional<Mount> mount = find_mount(status.stx_mnt_id);
  if (error || !mount) return std::nullopt;
  const fs::path below = path.lexically_relative(mount->point);
  if (below.empty() || *below.begin() == "..") return std::nullopt;
  return PhysicalPath{mount->device, (mount->root / below).lexically_normal()};
}

bool PhysicalPath::is_within(const std::optional<PhysicalPath>& outer) const {
  if (!outer || outer->device != device) return false;
  const auto [in, out] =
      std::mismatch(path.begin(), path.end(), outer->path.begin(), outer->path.end());
  return out == outer->path.end() || (std::next(out) == outer->path.end() && out->empty());
}

std::optional<PhysicalPath> recent_physical_path(const fs::path& directory) {
  struct Known {
    Instant at;
    std::optional<PhysicalPath> path;
  };
  constexpr std::chrono::seconds kMaxAge{1};
  constexpr std::size_t kMaxFolders = 10000;
  static std::mutex mutex;
  static std::map<std::string, Known> known;
  const Instant now = Clock::now();
  const std::lock_guard lock(mutex);
  const auto found = known.find(directory.native());
  if (found != known.end() && now - found->second.at < kMaxAge) return found->second.path;
  if (known.size() >= kMaxFolders) known.clear();
  const files::FileDescriptor opened = open_directory(directory);
  std::optional<PhysicalPath> path = opened ? physical_path(opened.get()) : std::nullopt;
  known[directory.native()] = {now, path};
  return path;
}

bool is_physically_within(int inner, int outer) {
  if (is_same_directory(inner, outer)) return true;
  const std::optional<PhysicalPath> in = physical_path(inner), out = physical_path(outer);
  if (!in || !in->is_within(out)) return false;
  const fs::path below = in->path.lexically_relative(out->path);
  // Network file systems may show the same root for different folders.
  const files::FileDescriptor found(
      ::openat(outer, below.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  return found && is_same_directory(found.get(), inner);
}

bool is_physically_within(const fs::path& inner, const fs::path& outer) {
  const files::FileDescriptor folder = open_directory(outer), directory = open_nearest(inner);
  return folder && directory && is_physically_within(directory.get(), folder.get());
}

std::optional<PhysicalPath> nearest_physical_path(const fs::path& path) {
  const files::FileDescriptor directory = open_nearest(path);
  return directory ? physical_path(directory.get()) : std::nullopt;
}

}  // namespace eckart::io
