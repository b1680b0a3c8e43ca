#include "io/watch/tree_scan.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "io/descriptor.hpp"
#include "io/taken_file.hpp"

namespace eckart::io {

TreeScan::TreeScan(const Selection& selection, Enter enter, Unreadable unreadable)
    : selection_(selection),
      enter_(std::move(enter)),
      unreadable_(std::move(unreadable)),
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
    }
  }
  return files;
}

bool TreeScan::open_next() {
  std::set<std::string>& from = waiting_.empty() ? links_ : waiting_;
  folder_ = std::move(from.extract(from.begin()).value());
  if (!enter_(folder_)) return false;
  const bool may_be_link = folder_.empty() || selection_.follows_links();
  Descriptor folder(::open(selection_.path_of(folder_).c_str(),
                           O_RDONLY | O_DIRECTORY | O_CLOEXEC | (may_be_link ? 0 : O_NOFOLLOW)));
  if (folder) listing_.reset(::fdopendir(folder.get()));
  if (listing_) {
    folder.release();
  } else if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP) {
    unreadable_(folder_, errno);
  }
  return bool(listing_);
}

void TreeScan::sort_in(const dirent& entry, std::vector<std::string>& files) {
  const std::string_view name = entry.d_name;
  if (name.starts_with('.')) {  // what a killed service had taken comes anew
    static_cast<void>(restore_taken(selection_.path_of(folder_), name));
    return;
  }
  const bool may_be_file = selection_.takes_file(name);
  switch (type_of(entry)) {
    case DT_DIR:
      if (std::string folder = join(folder_, name); selection_.takes_folder(folder))
        waiting_.insert(std::move(folder));
      break;
    case DT_LNK:
      push_link(join(folder_, name));
      [[fallthrough]];
    case DT_REG:
      if (may_be_file) files.push_back(join(folder_, name));
      break;
    default:
      break;
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
