#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace eckart::tar {

/// Takes the next bytes of an archive; may throw.
using OnBytes = std::function<void(std::span<const std::byte>)>;

/// Writes an archive: ustar, with pax headers for long names and times. Equal members give equal
/// bytes. All functions throw what OnBytes throws, and std::runtime_error.
class Writer {
 public:
  virtual ~Writer() = default;
  /// Adds a file. `name`: bytes, a relative path. `mtime_ns`: in ns since 1970.
  virtual void add(const std::string& name, std::span<const std::byte> bytes,
                   std::int64_t mtime_ns) = 0;
  /// Writes the end of the archive. Must be called once, last.
  virtual void finish() = 0;
};

/// Throws std::runtime_error if libarchive cannot be loaded.
std::unique_ptr<Writer> make_writer(const OnBytes& on_bytes);

}  // namespace eckart::tar
