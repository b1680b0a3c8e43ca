#pragma once

#include <filesystem>
#include <optional>

#include "io/rooted_file.hpp"
#include "io/taken_file.hpp"

namespace eckart::io {

/// As a watch of `root` knows a file that it has found.
inline RootedFile rooted(const std::filesystem::path& root, const std::filesystem::path& relative,
                         Links links = Links::none) {
  RootedFile file{RootDirectory::open(root, links), relative, {}};
  file.directory = file.root->open_below(relative.parent_path())->id();
  return file;
}

/// As it is now.
inline FileIdentity identity_of(const RootedFile& file) {
  return look_at(*open_directory(file), file.name(), file.root->links()).identity;
}

inline std::optional<TakenFile> take(const RootedFile& file) {
  return TakenFile::take(file, identity_of(file));
}

}  // namespace eckart::io
