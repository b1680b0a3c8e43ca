#include "io/existing_names.hpp"

#include <dirent.h>

#include <cerrno>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "io/sync_folder.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;

// About 40 bytes each.
constexpr std::size_t kMaxNames = 1000000;

std::uint64_t hash_of(std::string_view name) { return std::hash<std::string_view>()(name); }

/// Fills `hashes`. Returns false if the folder cannot be read to its end, or has too many names. A
/// folder that does not exist has no names.
bool list(const fs::path& folder, std::unordered_set<std::uint64_t>& hashes) {
  // Not std::filesystem, which would allocate a path for each of up to a million names.
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(::opendir(folder.c_str()), &::closedir);
  if (!listing) return errno == ENOENT;
  errno = 0;
  for (const dirent* entry = nullptr; (entry = ::readdir(listing.get())); errno = 0) {
    if (hashes.size() >= kMaxNames) return false;
    hashes.insert(hash_of(entry->d_name));
  }
  return errno == 0;
}

}  // namespace

bool ExistingNames::may_contain(const fs::path& path) {
  const std::string_view text = path.native();
  const std::size_t name_at = text.rfind('/') + 1;  // 0 if there is no slash
  const std::string_view folder = text.substr(0, name_at);
  if (folders_.empty() || folder != last_folder_) {
    last_names_ = names_in(parent_folder(path).native());
    last_folder_ = folder;
  }
  return !last_names_ || last_names_->contains(hash_of(text.substr(name_at)));
}

const ExistingNames::Hashes* ExistingNames::names_in(const std::string& folder) {
  if (const auto known = folders_.find(folder); known != folders_.end()) return known->second.get();
  constexpr std::size_t kMaxFolders = 10000;
  if (names_ >= kMaxNames || folders_.size() >= kMaxFolders) {  // each is then listed once more
    folders_.clear();
    names_ = 0;
  }
  auto hashes = std::make_unique<Hashes>();
  if (!list(folder, *hashes)) hashes.reset();
  names_ += hashes ? hashes->size() : 0;
  return folders_.emplace(folder, std::move(hashes)).first->second.get();
}

}  // namespace eckart::io
