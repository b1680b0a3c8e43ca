#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "io/descriptor.hpp"

namespace eckart::io {

/// A new file in a folder under a name that nobody else takes, `.eckart-...tmp`; removed with the
/// object unless it was renamed. Before a process makes its first one in a folder, it removes those
/// that dead processes left there. Throws std::system_error.
class TemporaryFile {
 public:
  /// `name` is what the file shall be called later; the folder must exist.
  TemporaryFile(const std::filesystem::path& folder, const std::filesystem::path& name);
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();

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

}  // namespace eckart::io
