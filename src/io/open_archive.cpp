#include "io/open_archive.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <list>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "core/error.hpp"
#include "files/entry_exists.hpp"
#include "hash/fnv1a.hpp"
#include "io/input_file.hpp"
#include "io/read_file.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;

ArchivePtr list_archive(const fs::path& path, const std::stop_token& stop) {
  InputFile file(path);
  const files::FileState state = file.state();
  try {
    return std::make_shared<const OpenArchive>(
        OpenArchive{tar::Archive(std::move(file).take_descriptor(), stop), state});
  } catch (const ItemError&) {
    throw;
  } catch (const std::runtime_error& error) {  // the module cannot be loaded
    throw EnvironmentError("cannot read tar archives: " + std::string(error.what()));
  }
}

/// The archives that were used last.
class ArchiveCache {
 public:
  ArchivePtr open(const fs::path& path, const std::stop_token& stop) {
    const std::shared_ptr<Slot> slot = slot_of(path.native());
    const std::lock_guard lock(slot->mutex);  // others wait until it is listed
    const files::FileState state = state_of(path);
    if (slot->archive && slot->archive->state == state) return slot->archive;
    slot->archive = nullptr;
    ArchivePtr listed = list_archive(path, stop);
    if (stop.stop_requested()) return listed;
    slot->archive = listed;
    slot->members = listed->archive.members().size();
    drop_oldest();
    return listed;
  }

 private:
  struct Slot {
    std::string path;
    std::mutex mutex;
    ArchivePtr archive;  // null before it is listed
    std::atomic<std::size_t> members{0};
  };

  /// Keeps the archive that was used last, also if it has more than kMaxMembers.
  void drop_oldest() {
    const std::lock_guard lock(mutex_);
    std::size_t members = 0;
    for (const auto& slot : slots_) members += slot->members;
    while (slots_.size() > 1 && members > kMaxMembers) {
      members -= slots_.back()->members;
      slots_.pop_back();
    }
  }

  std::shared_ptr<Slot> slot_of(const std::string& path) {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(
        slots_, path, [](const std::shared_ptr<Slot>& slot) { return slot->path; });
    if (found != slots_.end()) {
      slots_.splice(slots_.begin(), slots_, found);
      return slots_.front();
    }
    slots_.push_front(std::make_shared<Slot>());
    slots_.front()->path = path;
    if (slots_.size() > kMaxArchives) slots_.pop_back();
    return slots_.front();
  }

  static constexpr std::size_t kMaxArchives = 32;        // a file descriptor each
  static constexpr std::size_t kMaxMembers = 2'000'000;  // about 130 bytes each
  std::mutex mutex_;
  std::list<std::shared_ptr<Slot>> slots_;  // the one used last is the first
};

}  // namespace

bool is_archive_path(const fs::path& path) {
  return tar::is_archive_name(path.filename().native());
}

ArchivePtr open_archive(const fs::path& archive, const std::stop_token& stop) {
  static ArchiveCache cache;
  return cache.open(archive, stop);
}

std::optional<MemberPath> parse_member_path(const fs::path& path) {
  const std::string& text = path.native();
  for (std::size_t slash = text.find('/', 1); slash != text.npos;
       slash = text.find('/', slash + 1)) {
    const std::string_view before = std::string_view(text).substr(0, slash);
    struct stat status {};
    if (!tar::is_archive_name(before.substr(before.rfind('/') + 1)) ||
        ::stat(std::string(before).c_str(), &status) != 0 || !S_ISREG(status.st_mode))
      continue;
    const std::size_t name = text.find_first_not_of('/', slash);
    if (name == text.npos) return std::nullopt;
    return MemberPath{before, text.substr(name)};
  }
  return std::nullopt;
}

OpenMember open_member(const MemberPath& path) {
  ArchivePtr archive = open_archive(path.archive);
  const tar::Member* const member = archive->archive.find(path.member);
  if (!member)
    throw ItemError(FailureReason::not_found,
                    "no such file in the archive " + path.archive.native());
  if (!member->problem.empty()) throw ItemError(FailureReason::unreadable, member->problem);
  return {std::move(archive), member};
}

files::FileState state_of(const OpenMember& member) {
  const files::FileState& archive = member.archive->state;
  return {.size = member.member->size,
          .mtime_ns = archive.mtime_ns,
          .inode = std::int64_t(hash::fnv1a(std::to_string(archive.inode) + ' ' +
                                            std::to_string(member.member->offset)))};
}

bool input_exists(const fs::path& path) {
  if (files::entry_exists(path)) return true;
  const std::optional<MemberPath> member = parse_member_path(path);
  if (!member) return false;
  try {
    return open_archive(member->archive)->archive.find(member->member) != nullptr;
  } catch (const ItemError& error) {
    return error.reason() != FailureReason::not_found;
  }
}

}  // namespace eckart::io
