#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "core/file_state.hpp"

namespace eckart::io {

/// A file on its way out of the folder that it arrived in: renamed to a hidden name beside it, so
/// that what arrives meanwhile under its own name is left alone. Goes back to that name with the
/// object, or to one like it where that is another file's by then, unless it was removed or moved.
class TakenFile {
 public:
  /// Nothing where the file is gone, or is not in `state` any more. Throws ItemError(not_written)
  /// with the system's reason, or EnvironmentError, as the others do.
  static std::optional<TakenFile> take(const std::filesystem::path& file, const FileState& state);

  TakenFile(TakenFile&& other) noexcept;
  TakenFile& operator=(TakenFile&&) = delete;
  ~TakenFile();

  void remove();
  /// To another place, whose folders are made if they are missing, on another file system too, and
  /// then durably. Never over what is there: then to a name with the time, and a number.
  void move_to(const std::filesystem::path& place);

 private:
  TakenFile(std::filesystem::path file, std::filesystem::path hidden)
      : file_(std::move(file)), hidden_(std::move(hidden)) {}

  std::filesystem::path file_;
  std::filesystem::path hidden_;  // empty: there is nothing to put back
};

/// Renames a file, or copies it durably to another file system and removes it; false where there is
/// a file at the new place. Throws as TakenFile.
bool move_file(const std::filesystem::path& from, const std::filesystem::path& to);

/// Renames a file in `folder` back that a process had taken which was killed; false where `name` is
/// not that of such a file.
bool restore_taken(const std::filesystem::path& folder, std::string_view name);

}  // namespace eckart::io
