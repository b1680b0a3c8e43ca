#include "io/parent_links.hpp"

#include <algorithm>
#include <system_error>

namespace eckart::io {

namespace fs = std::filesystem;

fs::path resolve_parent_links(const fs::path& path) {
  const auto last_parent = std::find(std::make_reverse_iterator(path.end()),
                                     std::make_reverse_iterator(path.begin()), fs::path(".."));
  const auto end = last_parent.base();  // after the last `..`
  if (end == path.begin()) return path;
  fs::path parents, rest;
  for (auto part = path.begin(); part != end; ++part) parents /= *part;
  for (auto part = end; part != path.end(); ++part) rest /= *part;
  std::error_code error;
  const fs::path lexical = fs::absolute(parents, error).lexically_normal();
  if (error || fs::equivalent(parents, lexical, error) || error) return path;
  const fs::path real = fs::canonical(parents, error);
  return error ? path : real / rest;
}

}  // namespace eckart::io
