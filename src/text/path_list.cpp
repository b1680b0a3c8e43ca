#include "text/path_list.hpp"

#include <algorithm>
#include <cstddef>

#include "text/printable.hpp"

namespace eckart::text {

std::string path_list(std::span<const std::filesystem::path> paths) {
  constexpr std::size_t kMaxListed = 3;
  std::string list;
  for (const std::filesystem::path& path : paths.first(std::min(kMaxListed, paths.size())))
    list += (list.empty() ? "" : ", ") + printable(path.native());
  if (paths.size() > kMaxListed)
    list += " and " + std::to_string(paths.size() - kMaxListed) + " more";
  return list;
}

}  // namespace eckart::text
