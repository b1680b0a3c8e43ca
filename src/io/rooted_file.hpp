#pragma once

#include <filesystem>

#include "io/directory.hpp"
#include "io/input_file.hpp"
#include "io/root_directory.hpp"

namespace eckart::io {

/// A file below a root, and the directory in which it was found. In any other directory, though it
/// has the same path by now, it is another file.
struct RootedFile {
  RootDirectoryPtr root;  ///< nullptr: no such file; it is known by its path alone
  std::filesystem::path relative;
  FileId directory;

  explicit operator bool() const { return bool(root); }
  std::string name() const { return relative.filename().native(); }
  std::filesystem::path path() const { return root->path() / relative; }
};

/// The directory of the file. nullptr, with errno, if another is at its place, or none.
DirectoryPtr open_directory(const RootedFile& file);

/// What an entry of a directory is.
struct EntryStat {
  enum Kind { nothing, file, directory, link, other };
  Kind kind = nothing;    ///< link: one that is not followed, or leads to nothing
  FileIdentity identity;  ///< of a file
  int error = 0;          ///< why it could not be looked at
};

/// Looks at an entry, and follows a link only as `links` has it.
EntryStat stat_entry(const Directory& directory, const std::string& name, LinkPolicy links);

/// Opens it as InputFile does. Throws as InputFile; ItemError(not_found) as well if it is not in
/// its directory any more, or if it is a link that is not followed.
InputFile open_input(const RootedFile& file);

/// Of an open file. Throws ItemError(unreadable).
FileIdentity identity_of(const InputFile& file);

}  // namespace eckart::io
