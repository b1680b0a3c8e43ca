#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "text/format_count.hpp"

namespace eckart::text {

/// Formats numbers of files by extension as "13 files not read: 10 .tif, 3 .heic".
inline std::string unread_files_text(
    const std::vector<std::pair<std::string, std::int64_t>>& by_extension) {
  std::int64_t total = 0;
  std::string list;
  for (const auto& [extension, count] : by_extension) {
    total += count;
    list += (list.empty() ? "" : ", ") + group_digits(count) + " " + extension;
  }
  return format_count(total, "file") + " not read: " + list;
}

}  // namespace eckart::text
