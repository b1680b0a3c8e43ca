#include "io/is_within.hpp"

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

RealPath::RealPath(const fs::path& path) {
  std::error_code error;
  const fs::path real = real_path(path, error);
  if (!error) text_ = (real / "").native();
}

bool RealPath::is_within(const RealPath& folder) const {
  return !folder.text_.empty() && text_.starts_with(folder.text_);
}

bool is_within(const fs::path& path, const fs::path& folder) {
  return RealPath(path).is_within(RealPath(folder));
}

}  // namespace eckart::io
