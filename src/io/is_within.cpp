#include "io/is_within.hpp"

#include <algorithm>
#include <system_error>

namespace eckart::io {

namespace fs = std::filesystem;

namespace {

/// Returns the absolute path without links, dots and trailing slash. Only the part that exists is
/// resolved.
fs::path real_path(const fs::path& path, std::error_code& error) {
  const fs::path absolute = fs::absolute(path, error);
  if (error) return {};
  fs::path real = fs::weakly_canonical(absolute, error);
  return real.has_filename() ? real : real.parent_path();
}

}  // namespace

bool is_within(const fs::path& path, const fs::path& folder) {
  std::error_code error, folder_error;
  const fs::path inner = real_path(path, error), outer = real_path(folder, folder_error);
  if (error || folder_error) return false;
  return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

}  // namespace eckart::io
