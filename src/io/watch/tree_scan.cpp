#include "io/watch/tree_scan.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "files/file_descriptor.hpp"
#include "io/claimed_file.hpp"

namespace eckart::io {

TreeScan::TreeScan(const PathFilter& path_filter, RootDirectoryPtr root, OnFolder on_folder,
                   OnUnreadable on_unreadable, OnIgnoredLink on_ignored_link,
                   OnUnreadFile on_unread_file)
    : path_filter_(path_filter),
      root_(std::move(root)),
      on_folder_(std::move(on_folder)),
      on_unreadable_(std::move(on_unreadable)),
      on_ignored_link_(std::move(on_ignored_link)),
      on_unread_file_(std::move(on_unread_file)),
      listing_(nullptr, &::closedir) {}

void TreeScan::push_link(const std::string& link) {
  if (path_filter_.accepts_link(link)) links_.insert(link);
}

std::vector<std::string> TreeScan::step(std::size_t max_entries) {
  std::vector<std::string> files;
  for (std::size_t entries_read = 0; entries_read < max_entries && !is_done(); ++entries_read) {
    if (!listing_ && !open_next()) continue;
    errno = 0;
    if (const dirent* entry = ::readdir(listing_.get())) {
      classify(*entry, files);
    } else {
      if (errno != 0) on_unreadable_(folder_, errno);
      listing_.reset();
      directory_.reset();
    }
  }
  return files;
}

bool TreeScan::open_next() {
  std::set<std::string>& paths = pending_folders_.empty() ? links_ : pending_folders_;
  folder_ = std::move(paths.extract(paths.begin()).value());
  if (!on_folder_(folder_)) return false;
  directory_ = root_->open_below(folder_);
  files::FileDescriptor folder =
      directory_ ? directory_->open_for_reading() : files::FileDescriptor();
  if (folder) listing_.reset(::fdopendir(folder.get()));
  if (listing_) {
    folder.release();
  } else if (!is_missing_error(errno)) {
    on_unreadable_(folder_, errno);
  }
  if (!listing_) directory_.reset();
  return bool(listing_);
}

void TreeScan::classify(const dirent& entry, std::vector<std::string>& files) {
  const std::string_view name = entry.d_name;
  if (name.starts_with('.')) {  // restores files that a killed service had claimed
    static_cast<void>(recover_stale_claim(*directory_, name));
    return;
  }
  const bool may_be_file = path_filter_.accepts_file(name);
  switch (type_of(entry)) {
    case DT_DIR:
      if (std::string folder = join_path(folder_, name); path_filter_.accepts_folder(folder))
        pending_folders_.insert(std::move(folder));
      break;
    case DT_LNK:
      classify_link(name, files);
      break;
    case DT_REG:
      if (may_be_file) {
        files.push_back(join_path(folder_, name));
      } else if (on_unread_file_) {
        on_unread_file_(name);
      }
      break;
    default:
      break;
  }
}

void TreeScan::classify_link(std::string_view name, std::vector<std::string>& files) {
  push_link(join_path(folder_, name));
  if (!path_filter_.accepts_file(name)) return;
  if (path_filter_.links() != files::LinkPolicy::none) {
    files.push_back(join_path(folder_, name));
  } else if (on_ignored_link_) {
    on_ignored_link_(join_path(folder_, name));
  }
}

unsigned char TreeScan::type_of(const dirent& entry) const {
  if (entry.d_type != DT_UNKNOWN) return entry.d_type;
  struct stat status {};
  if (::fstatat(::dirfd(listing_.get()), entry.d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
    return DT_UNKNOWN;
  return IFTODT(status.st_mode);
}

}  // namespace eckart::io
