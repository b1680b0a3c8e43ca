#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

#include "io/descriptor.hpp"

namespace eckart::io {

/// A new file in a folder that is there, under a name that nobody else takes, `.eckart-...tmp`;
/// removed with the object unless it was renamed. Throws std::system_error.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::filesystem::path& folder);
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();

  const std::filesystem::path& path() const { return path_; }
  void write(std::span<const std::byte> bytes);
  /// Sends what was written on its way to the disk, without waiting.
  void start_writeback() noexcept;
  /// Waits until it is there.
  void sync();
  /// To be called before rename_to: some file systems report a failed write only here.
  void close();
  void rename_to(const std::filesystem::path& path);

 private:
  std::filesystem::path path_;
  Descriptor descriptor_;
  bool renamed_ = false;
};

/// Whether a file of this name was made by another process, as a TemporaryFile.
bool is_temporary_of_another(std::string_view name);

}  // namespace eckart::io
