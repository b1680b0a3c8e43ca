#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "files/file_state.hpp"
#include "io/input_file.hpp"
#include "ledger/records.hpp"

namespace eckart {

/// An input, for comparison with what the ledger knows.
struct InputIdentity {
  std::string path;             ///< absolute
  std::size_t root_length = 1;  ///< bytes of `path` that are its root's, as in ledger::OutputEntry
  FileState state;
  std::string content_hash{};                 ///< SHA-256, 32 bytes; empty where it is not known
  std::vector<std::string> original_paths{};  ///< paths for which is_moved_or_copied() has said so
};

/// How many bytes at the start of an absolute path are its root's: all but its place in the
/// mirrored tree, where it ends with that, and else its folder.
std::size_t root_length(const std::string& path, const std::filesystem::path& relative);

/// What an input is to the input of an output that the ledger knows.
enum class InputMatch {
  different,  ///< another file
  changed,    ///< the same file, which has changed
  uncertain,  ///< moved or copied, or another file: is_moved_or_copied() tells
  same,
};

/// An input of the same path is the same file. One of the same path below its root, in another
/// folder, is the same if its content is the same, where both are known; it may be the same if size
/// and time of change are. Looks at no file.
InputMatch match_input(const ledger::OutputEntry& known, const InputIdentity& input);

/// Whether the file at `old_path` is gone, or is the one at `path`, or has the same bytes. Reads
/// both, and that at `path` by `open`, if it is open.
bool is_moved_or_copied(const std::string& old_path, const std::string& path,
                        const io::InputFile* open);

}  // namespace eckart
