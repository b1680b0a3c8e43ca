#pragma once

#include <filesystem>
#include <optional>

#include "io/claimed_file.hpp"
#include "io/rooted_file.hpp"

namespace eckart::io {

/// Returns the file as a watch of `root` finds it.
inline RootedFile make_rooted_file(const std::filesystem::path& root,
                                   const std::filesystem::path& relative,
                                   files::LinkPolicy links = files::LinkPolicy::none) {
  RootedFile file{RootDirectory::open(root, links), relative, {}};
  file.directory = file.root->open_below(relative.parent_path())->id();
  return file;
}

/// Returns the current identity.
inline FileIdentity identity_of(const RootedFile& file) {
  return stat_entry(*open_directory(file), file.name(), file.root->links()).identity;
}

inline std::optional<ClaimedFile> claim(const RootedFile& file) {
  return ClaimedFile::claim(file, identity_of(file));
}

}  // namespace eckart::io
