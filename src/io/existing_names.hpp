#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace eckart::io {

/// What folders contained when each was first asked for. One listing of a folder takes the place of
/// a system call for each name. For one thread.
class ExistingNames {
 public:
  /// Whether a file or folder may have been at the path. False only if it was not.
  bool may_contain(const std::filesystem::path& path);

 private:
  using Hashes = std::unordered_set<std::uint64_t>;
  /// nullptr: the folder could not be read, or has too many names to keep.
  const Hashes* names_in(const std::string& folder);

  std::unordered_map<std::string, std::unique_ptr<Hashes>> folders_;
  std::string last_folder_;  // with a slash at its end, if there is one
  const Hashes* last_names_ = nullptr;
  std::size_t names_ = 0;  // in all folders
};

}  // namespace eckart::io
