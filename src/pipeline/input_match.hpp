#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "files/file_state.hpp"
#include "io/input_file.hpp"
#include "ledger/records.hpp"

namespace eckart::pipeline {

/// An input, for comparison with ledger entries.
struct InputIdentity {
  std::string path;             ///< absolute
  std::size_t root_length = 1;  ///< as in ledger::OutputEntry; see root_length()
  files::FileState state;
  std::string content_hash{};                 ///< SHA-256, 32 bytes; empty if unknown
  std::vector<std::string> original_paths{};  ///< old paths for which is_moved_or_copied() was true
  /// Whether a file at the same path with another inode has changed, unless its content is known to
  /// be the same.
  bool compares_inode = false;
};

/// Returns the length in bytes of the root of an absolute path, with its final slash. The root is
/// `path` without its end `relative`, or the folder of the file if `path` does not end with that.
std::size_t root_length(const std::string& path, const std::filesystem::path& relative);

/// How an input compares with the input of a recorded output.
enum class InputMatch {
  different,  ///< another file
  changed,    ///< the same file with other content
  uncertain,  ///< the same file moved or copied, or another file; see is_moved_or_copied()
  same,
};

/// Compares an input with the input of a recorded output; accesses no file. An input at the same
/// path is the same file, perhaps changed. An input with the same path below another root is the
/// same file if both content hashes are known and equal. If a hash is unknown, size and mtime must
/// be equal: then it is `same` if is_moved_or_copied() was true for the recorded path, and
/// `uncertain` otherwise.
InputMatch match_input(const ledger::OutputEntry& known, const InputIdentity& input);

/// Returns whether the file at `old_path` no longer exists, is the same inode as the file at
/// `path`, or has the same bytes. May read both files; reads the file at `path` through `open` if
/// that is not null.
bool is_moved_or_copied(const std::string& old_path, const std::string& path,
                        const io::InputFile* open);

}  // namespace eckart::pipeline
