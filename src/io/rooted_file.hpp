#pragma once

#include <filesystem>

#include "io/directory.hpp"
#include "io/input_file.hpp"
#include "io/root_directory.hpp"

namespace eckart::io {

/// A file below a root, with the ID of the directory in which it was found. A file of the same path
/// in another directory is another file.
struct RootedFile {
  RootDirectoryPtr root;  ///< nullptr: there is no root; the file has only a path
  std::filesystem::path relative;
  FileId directory;

  explicit operator bool() const { return bool(root); }
  std::string name() const { return relative.filename().native(); }
  std::filesystem::path path() const { return root->path() / relative; }
};

/// Opens the directory of the file. Returns nullptr, with errno, if it does not exist or another
/// directory is at its path.
DirectoryPtr open_directory(const RootedFile& file);

/// The kind and identity of a directory entry.
struct EntryStat {
  enum Kind { missing, file, directory, link, other };
  Kind kind = missing;    ///< link: not followed, or broken
  FileIdentity identity;  ///< of a regular file
  int error = 0;          ///< errno if the status cannot be read
};

/// Reads the status of an entry. Follows a link only if `links` allows it.
EntryStat stat_entry(const Directory& directory, const std::string& name, files::LinkPolicy links);

/// Opens the file. Throws like InputFile. Also throws ItemError(not_found) if it is no longer in
/// its directory or is a link that may not be followed.
InputFile open_input(const RootedFile& file);

/// Returns the identity of an open file. Throws ItemError(unreadable).
FileIdentity identity_of(const InputFile& file);

}  // namespace eckart::io
