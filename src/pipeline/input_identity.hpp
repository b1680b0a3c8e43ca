#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "core/file_state.hpp"
#include "ledger/records.hpp"

namespace eckart {

/// An input, for comparison with what the ledger knows.
struct InputIdentity {
  std::string path;           ///< absolute
  std::size_t root_size = 1;  ///< bytes of `path` that are its root's, as in ledger::Entry
  FileState state;
  std::string content{};  ///< SHA-256, 32 bytes; empty where it is not known
};

/// How many bytes at the start of an absolute path are its root's: all but its place in the
/// mirrored tree, where it ends with that, and else its folder.
std::size_t root_size(const std::string& path, const std::filesystem::path& relative);

/// What an input is to the input of an output that the ledger knows.
enum class SameInput {
  no,       ///< another file
  changed,  ///< the same file, which has changed
  yes,
};

/// An input of the same path is the same file. One of the same path below its root, in another
/// folder, is the same if it was moved or copied: if its content is the same, where both are known;
/// else if size and time of change are the same, and the old file is gone or has the same bytes.
/// Looks at the old file only where all else is the same.
SameInput same_input(const ledger::Entry& known, const InputIdentity& input);

}  // namespace eckart
