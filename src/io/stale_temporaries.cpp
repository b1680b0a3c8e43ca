#include "io/stale_temporaries.hpp"

#include <dirent.h>
#include <unistd.h>

#include <memory>
#include <system_error>

#include "files/state_folder.hpp"
#include "io/folder_lock.hpp"
#include "io/temporary_file.hpp"

namespace eckart::io {

namespace fs = std::filesystem;

StaleTemporaries::StaleTemporaries(const fs::path& root)
    : root_(root.has_filename() ? root : root.parent_path()) {  // without trailing slash, like the
                                                                // paths passed to remove_in()
  remove_in(root_);
}

void StaleTemporaries::remove_beside(const fs::path& output) {
  const std::string& path = output.native();
  const std::size_t name_at = path.rfind('/') + 1;
  if (name_at == last_.size() && path.starts_with(last_)) return;  // as most outputs of a run
  last_ = path.substr(0, name_at);
  remove_in(output.parent_path());
}

void StaleTemporaries::remove_in(const fs::path& folder) {
  // A service may write to any number of folders.
  constexpr std::size_t kMaxCleaned = 10000;
  if (cleaned_.size() >= kMaxCleaned) cleaned_.clear();
  if (!cleaned_.insert(folder.native()).second) return;
  if (is_in_another_output_folder(folder) || is_ancestor_locked()) return;
  // Not std::filesystem, which would allocate a path for each of up to a million names.
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(::opendir(folder.c_str()), &::closedir);
  if (!listing) return;
  while (const dirent* entry = ::readdir(listing.get())) {
    if (is_foreign_temporary(entry->d_name)) ::unlinkat(::dirfd(listing.get()), entry->d_name, 0);
  }
}

bool StaleTemporaries::is_in_another_output_folder(fs::path folder) const {
  std::error_code ignored;
  for (; folder != root_ && folder.has_relative_path(); folder = folder.parent_path()) {
    if (fs::exists(folder / files::kStateFolder, ignored)) return true;
  }
  return false;
}

bool StaleTemporaries::is_ancestor_locked() const {
  std::error_code ignored;
  fs::path folder = fs::canonical(root_, ignored);
  while (folder.has_relative_path()) {
    folder = folder.parent_path();
    if (is_locked(folder)) return true;
  }
  return false;
}

}  // namespace eckart::io
