#include "io/real_path.hpp"

#include <algorithm>
#include <system_error>

namespace eckart::io {

namespace fs = std::filesystem;

bool is_or_is_below(const fs::path& path, const fs::path& folder) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  if (error) return false;
  fs::path real_path = fs::weakly_canonical(absolute, error);
  if (error) return false;
  if (!real_path.has_filename()) real_path = real_path.parent_path();
  const fs::path real_folder = fs::canonical(folder, error);
  if (error) return false;
  return std::mismatch(real_folder.begin(), real_folder.end(), real_path.begin(), real_path.end())
             .first == real_folder.end();
}

}  // namespace eckart::io
