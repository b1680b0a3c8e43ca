#include "io/root_path.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "io/open_without_links.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;

bool is_link(const fs::path& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode);
}

}  // namespace

RootPath::RootPath(fs::path path) : path_(std::move(path)) {
  fs::path begin, step;
  const auto end_step = [&](bool is_link) {
    if (!step.empty()) steps_.push_back({step.native(), is_link});
    step.clear();
  };
  for (const fs::path& name : path_) {
    begin /= name;
    const bool is_linked = !name.empty() && is_link(begin);
    if (is_linked) end_step(false);
    step /= name;
    if (is_linked) end_step(true);
  }
  end_step(false);
}

bool RootPath::has_links() const { return std::ranges::any_of(steps_, &Step::is_link); }

files::FileDescriptor RootPath::open() const {
  files::FileDescriptor opened;
  for (const Step& step : steps_) {
    const int from = opened ? opened.get() : AT_FDCWD;
    files::FileDescriptor next =
        step.is_link ? files::FileDescriptor(::openat(from, step.path.c_str(), kPathFlags))
                     : open_without_links(from, step.path);
    if (!next) return next;
    opened = std::move(next);
  }
  return opened;
}

}  // namespace eckart::io
