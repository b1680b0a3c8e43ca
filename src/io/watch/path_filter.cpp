#include "io/watch/path_filter.hpp"

#include <algorithm>
#include <optional>

#include "codec/codec.hpp"
#include "io/is_within.hpp"
#include "io/watch/file_observation.hpp"

namespace eckart::io {
namespace {

bool is_hidden(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return path.substr(slash == path.npos ? 0 : slash + 1).starts_with('.');
}

}  // namespace

PathFilter::PathFilter(const WatchOptions& options) : root_(options.root), links_(options.links) {
  for (const std::filesystem::path& folder : options.exclude) {
    const std::filesystem::path normal = (folder / "").lexically_normal();
    excluded_.insert(normal.parent_path().native());  // without trailing slash
  }
}

bool PathFilter::accepts_file(std::string_view name) const {
  return codec::is_image_file_name(name);
}

bool PathFilter::accepts_folder(const std::string& folder) const {
  return !is_hidden(folder) && !excluded_.contains(folder);
}

bool PathFilter::accepts_link(const std::string& link) const {
  if (!follows_directory_links() || !accepts_folder(link) || is_link_cycle(link)) return false;
  return std::none_of(excluded_.begin(), excluded_.end(), [&](const std::string& excluded) {
    return is_within(path_of(link), path_of(excluded));
  });
}

bool PathFilter::is_link_cycle(const std::string& link) const {
  const std::optional<FileId> target = directory_id_at(path_of(link));
  std::string parent = link;
  while (!parent.empty()) {
    const std::size_t slash = parent.rfind('/');
    parent.resize(slash == parent.npos ? 0 : slash);
    if (directory_id_at(path_of(parent)) == target) return true;
  }
  return false;
}

std::filesystem::path PathFilter::path_of(const std::string& relative) const {
  return relative.empty() ? root_ : root_ / relative;
}

std::string join_path(const std::string& folder, std::string_view name) {
  std::string path = folder;
  if (!path.empty()) path += '/';
  return path.append(name);
}

}  // namespace eckart::io
