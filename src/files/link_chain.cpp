#include "files/link_chain.hpp"

#include <system_error>

namespace eckart::files {

std::vector<std::filesystem::path> link_chain(const std::filesystem::path& path) {
  constexpr std::size_t kMaxLinks = 40;  // the limit of Linux
  std::vector<std::filesystem::path> chain{path};
  std::error_code none;
  while (chain.size() <= kMaxLinks && std::filesystem::is_symlink(chain.back(), none))
    chain.push_back(chain.back().parent_path() / std::filesystem::read_symlink(chain.back(), none));
  return chain;
}

}  // namespace eckart::files
