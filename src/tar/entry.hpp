#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace eckart::tar {

/// One entry of an archive, as it is in its header.
struct Entry {
  enum class Kind { file, folder, link, other };
  std::string name;           ///< bytes; as in the archive, such as "./a/b.png"
  Kind kind = Kind::file;     ///< link: symbolic or hard; other: devices and FIFOs
  bool is_sparse = false;     ///< its content has holes, which the archive leaves out
  std::int64_t offset = 0;    ///< of its content in the archive, in bytes
  std::int64_t size = 0;      ///< of its content, in bytes
  std::int64_t mtime_ns = 0;  ///< in ns since 1970
};

/// Returns whether to go on.
using OnEntry = std::function<bool(Entry entry)>;

}  // namespace eckart::tar
