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
  const Hashes* const names = names_in(parent_folder(path));
  const std::string& text = path.native();
  const std::size_t slash = text.rfind('/');
  const auto name = std::string_view(text).substr(slash == std::string::npos ? 0 : slash + 1);
  return !names || names->contains(hash_of(name));
}

const ExistingNames::Hashes* ExistingNames::names_in(const fs::path& folder) {
  if (const auto known = folders_.find(folder.native()); known != folders_.end())
    return known->second.get();
  constexpr std::size_t kMaxFolders = 10000;
  if (names_ >= kMaxNames || folders_.size() >= kMaxFolders) {  // each is then listed once more
    folders_.clear();
    names_ = 0;
  }
  auto hashes = std::make_unique<Hashes>();
  if (!list(folder, *hashes)) hashes.reset();
  names_ += hashes ? hashes->size() : 0;
  return folders_.emplace(folder.native(), std::move(hashes)).first->second.get();
}

}  // namespace eckart::io
