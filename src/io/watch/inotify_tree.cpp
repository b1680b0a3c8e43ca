#include "io/watch/inotify_tree.hpp"

#include <sys/inotify.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace eckart::io {
namespace {

// IN_MODIFY is not needed: a writer closes the file in the end, and pending files are polled until
// then.
constexpr unsigned kEvents = IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_ATTRIB |
                             IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR |
                             IN_EXCL_UNLINK;
constexpr std::size_t kBufferBytes = 1 << 16;

}  // namespace

InotifyTree::InotifyTree(const PathFilter& path_filter, RootDirectoryPtr root)
    : path_filter_(path_filter), root_(std::move(root)), buffer_(kBufferBytes) {
  open();
}

void InotifyTree::open() {
  inotify_ = files::FileDescriptor(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (inotify_) return;
  limit_error_ = "cannot create an inotify instance (" + std::generic_category().message(errno) +
                 "; raise fs.inotify.max_user_instances)";
}

InotifyTree::AddResult InotifyTree::add(const std::string& folder) {
  if (!inotify_) return AddResult::unwatched;
  const DirectoryPtr directory = root_->open_below(folder);
  // inotify_add_watch() takes no descriptor. This path refers to the open directory.
  const int watch =
      directory ? ::inotify_add_watch(
                      inotify_.get(),
                      ("/proc/self/fd/" + std::to_string(directory->descriptor())).c_str(), kEvents)
                : -1;
  if (watch < 0) {
    const int error = directory && errno == ENOENT ? ENOSYS : errno;
    remove_outdated_watches(folder, error);
    return report_add_error(error);
  }
  if (const auto found = by_descriptor_.find(watch); found != by_descriptor_.end()) {
    const std::string& other = found->second->first;
    if (other == folder) {
      found->second->second.last_scan = scan_;
      return AddResult::watched;
    }
    const DirectoryPtr other_directory = root_->open_below(other);
    if (other_directory && other_directory->id() == directory->id()) return AddResult::duplicate;
    remove_watches(std::string(other), watch);  // the folder was moved from `other`
  }
  remove_watches(folder);  // another folder had this path
  by_descriptor_[watch] = folders_.emplace(folder, FolderWatch{watch, scan_}).first;
  return AddResult::watched;
}

InotifyTree::AddResult InotifyTree::report_add_error(int error) {
  if (is_missing_error(error)) return AddResult::missing;
  if (error == EACCES || error == ENAMETOOLONG) return AddResult::unwatched;
  if (error == ENOSPC) {
    limit_error_ = "too many folders for inotify; raise fs.inotify.max_user_watches";
  } else if (error == ENOSYS) {
    limit_error_ = "inotify events need /proc, which is not mounted";
  } else {
    limit_error_ =
        "cannot add an inotify watch to a folder: " + std::generic_category().message(error);
  }
  return AddResult::unwatched;
}

/// Removes the watches of a folder that cannot be watched again, as far as the error says that they
/// are of other folders.
void InotifyTree::remove_outdated_watches(const std::string& folder, int error) {
  if (error == EMFILE || error == ENFILE || error == ENOMEM) return;
  if (error != EACCES) return remove_watches(folder);
  // Those below it may be readable. Without its own watch, it is scanned when it becomes readable.
  if (const auto found = folders_.find(folder); found != folders_.end()) remove_watch(found, -1);
}

/// Removes the folder and all folders below it. The kernel watch `kept_watch` stays, only its path
/// is removed.
void InotifyTree::remove_watches(const std::string& folder, int kept_watch) {
  if (folder.empty()) {
    for (auto folder_watch = folders_.begin(); folder_watch != folders_.end();)
      folder_watch = remove_watch(folder_watch, kept_watch);
    return;
  }
  if (const auto found = folders_.find(folder); found != folders_.end())
    remove_watch(found, kept_watch);
  const std::string below = folder + '/';
  for (auto folder_watch = folders_.lower_bound(below);
       folder_watch != folders_.end() && folder_watch->first.starts_with(below);) {
    folder_watch = remove_watch(folder_watch, kept_watch);
  }
}

InotifyTree::Folders::iterator InotifyTree::remove_watch(Folders::iterator folder, int kept_watch) {
  const int watch = folder->second.descriptor;
  by_descriptor_.erase(watch);
  if (watch != kept_watch)
    ::inotify_rm_watch(inotify_.get(), watch);  // fails if the kernel removed it
  return folders_.erase(folder);
}

void InotifyTree::begin_scan() {
  ++scan_;
  limit_error_.clear();
  if (!inotify_) open();
}

void InotifyTree::end_scan() {
  for (auto folder = folders_.begin(); folder != folders_.end();) {
    folder = folder->second.last_scan == scan_ ? std::next(folder) : remove_watch(folder, -1);
  }
}

std::vector<TreeEvent> InotifyTree::read() {
  std::vector<TreeEvent> events;
  if (!inotify_) return events;
  ssize_t size = 0;
  while (events.empty() && (size = ::read(inotify_.get(), buffer_.data(), buffer_.size())) > 0) {
    for (const char* at = buffer_.data(); at < buffer_.data() + size;) {
      const auto& event = *reinterpret_cast<const inotify_event*>(at);  // the kernel aligns events
      translate(event, events);
      at += sizeof event + event.len;
    }
  }
  return events;
}

void InotifyTree::translate(const inotify_event& event, std::vector<TreeEvent>& events) {
  if (event.mask & IN_Q_OVERFLOW) return events.push_back({TreeEvent::overflow, {}});
  const auto found = by_descriptor_.find(event.wd);
  if (found == by_descriptor_.end()) return;  // the folder was removed since
  const std::string folder = found->second->first;
  if (event.len == 0) return translate_self_event(folder, event.mask, events);
  const std::string_view name(event.name, ::strnlen(event.name, event.len));
  const std::string path = join_path(folder, name);
  if (event.mask & IN_ISDIR) return translate_folder(path, event.mask, events);
  translate_file(path, name, event.mask, events);
}

/// Translates an event about the folder itself.
void InotifyTree::translate_self_event(const std::string& folder, unsigned mask,
                                       std::vector<TreeEvent>& events) {
  constexpr unsigned kEnd = IN_IGNORED | IN_UNMOUNT;
  if (folder.empty()) {
    if (mask & (kEnd | IN_DELETE_SELF | IN_MOVE_SELF))
      events.push_back({TreeEvent::root_changed, {}});
  } else if (mask & IN_UNMOUNT) {
    // The folder beneath the mount is visible again.
    events.push_back({TreeEvent::folder_added, folder});
  }
  if (mask & kEnd) remove_watch(folders_.find(folder), -1);
}

void InotifyTree::translate_folder(const std::string& path, unsigned mask,
                                   std::vector<TreeEvent>& events) {
  if (mask & IN_MOVED_FROM) remove_watches(path);
  if (mask & (IN_MOVED_FROM | IN_DELETE)) events.push_back({TreeEvent::folder_removed, path});
  const bool is_new = mask & (IN_CREATE | IN_MOVED_TO);
  const bool may_be_readable = (mask & IN_ATTRIB) && !folders_.contains(path);
  if ((is_new || may_be_readable) && path_filter_.accepts_folder(path)) {
    events.push_back({TreeEvent::folder_added, path});
  }
}

void InotifyTree::translate_file(const std::string& path, std::string_view name, unsigned mask,
                                 std::vector<TreeEvent>& events) {
  const bool may_be_file = path_filter_.accepts_file(name);
  if (mask & (IN_MOVED_FROM | IN_DELETE)) {
    if (path_filter_.follows_directory_links()) {
      remove_watches(path);
      events.push_back({TreeEvent::folder_removed, path});
    }
    events.push_back(may_be_file ? TreeEvent{TreeEvent::file_removed, path}
                                 : TreeEvent{TreeEvent::unread_file_removed, std::string(name)});
    return;
  }
  const bool may_be_link =
      path_filter_.follows_directory_links() && mask & (IN_CREATE | IN_MOVED_TO);
  if (!may_be_file && mask & (IN_CREATE | IN_MOVED_TO))
    events.push_back({TreeEvent::unread_file_added, path});
  if (may_be_file || may_be_link) events.push_back({TreeEvent::file_changed, path});
}

}  // namespace eckart::io
