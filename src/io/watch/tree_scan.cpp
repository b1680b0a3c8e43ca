#include "io/watch/tree_scan.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "core/descriptor.hpp"
#include "io/taken_file.hpp"

namespace eckart::io {

TreeScan::TreeScan(const Selection& selection, RootDirectoryPtr root, Enter enter,
                   Unreadable unreadable, Ignored ignored)
    : selection_(selection),
      root_(std::move(root)),
      enter_(std::move(enter)),
      unreadable_(std::move(unreadable)),
      ignored_(std::move(ignored)),
      listing_(nullptr, &::closedir) {}

void TreeScan::push_link(const std::string& link) {
  if (selection_.takes_link(link)) links_.insert(link);
}

std::vector<std::string> TreeScan::step(std::size_t most) {
  std::vector<std::string> files;
  for (std::size_t looked_at = 0; looked_at < most && !done(); ++looked_at) {
    if (!listing_ && !open_next()) continue;
    errno = 0;
    if (const dirent* entry = ::readdir(listing_.get())) {
      sort_in(*entry, files);
    } else {
      if (errno != 0) unreadable_(folder_, errno);
      listing_.reset();
      directory_.reset();
    }
  }
  return files;
}

bool TreeScan::open_next() {
  std::set<std::string>& from = waiting_.empty() ? links_ : waiting_;
  folder_ = std::move(from.extract(from.begin()).value());
  if (!enter_(folder_)) return false;
  directory_ = root_->open_below(folder_);
  Descriptor folder = directory_ ? directory_->open_for_reading() : Descriptor();
  if (folder) listing_.reset(::fdopendir(folder.get()));
  if (listing_) {
    folder.release();
  } else if (!means_gone(errno)) {
    unreadable_(folder_, errno);
  }
  if (!listing_) directory_.reset();
  return bool(listing_);
}

void TreeScan::sort_in(const dirent& entry, std::vector<std::string>& files) {
  const std::string_view name = entry.d_name;
  if (name.starts_with('.')) {  // what a killed service had taken comes anew
    static_cast<void>(restore_taken(*directory_, name));
    return;
  }
  const bool may_be_file = selection_.takes_file(name);
  switch (type_of(entry)) {
    case DT_DIR:
      if (std::string folder = join(folder_, name); selection_.takes_folder(folder))
        waiting_.insert(std::move(folder));
      break;
    case DT_LNK:
      sort_in_link(name, files);
      break;
    case DT_REG:
      if (may_be_file) files.push_back(join(folder_, name));
      break;
    default:
      break;
  }
}

void TreeScan::sort_in_link(std::string_view name, std::vector<std::string>& files) {
  push_link(join(folder_, name));
  if (!selection_.takes_file(name)) return;
  if (selection_.links() != Links::none) {
    files.push_back(join(folder_, name));
  } else if (ignored_) {
    ignored_(join(folder_, name));
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
