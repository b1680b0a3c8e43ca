#include "io/watch/selection.hpp"

#include <algorithm>
#include <optional>

#include "io/codec.hpp"
#include "io/real_path.hpp"
#include "io/watch/look.hpp"

namespace eckart::io {
namespace {

bool is_hidden(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return path.substr(slash == path.npos ? 0 : slash + 1).starts_with('.');
}

}  // namespace

Selection::Selection(const WatchOptions& options) : root_(options.root), links_(options.links) {
  for (const std::filesystem::path& folder : options.exclude) {
    const std::filesystem::path normal = (folder / "").lexically_normal();
    exclude_.insert(normal.parent_path().native());  // without the last slash
  }
}

bool Selection::takes_file(std::string_view name) const { return looks_like_image(name); }

bool Selection::takes_folder(const std::string& folder) const {
  return !is_hidden(folder) && !exclude_.contains(folder);
}

bool Selection::takes_link(const std::string& link) const {
  if (!follows_directory_links() || !takes_folder(link) || leads_back(link)) return false;
  return std::none_of(exclude_.begin(), exclude_.end(), [&](const std::string& excluded) {
    return is_or_is_below(path_of(link), path_of(excluded));
  });
}

bool Selection::leads_back(const std::string& link) const {
  const std::optional<FileId> target = directory_at(path_of(link));
  std::string around = link;
  while (!around.empty()) {
    const std::size_t slash = around.rfind('/');
    around.resize(slash == around.npos ? 0 : slash);
    if (directory_at(path_of(around)) == target) return true;
  }
  return false;
}

std::filesystem::path Selection::path_of(const std::string& relative) const {
  return relative.empty() ? root_ : root_ / relative;
}

std::string join(const std::string& folder, std::string_view name) {
  std::string path = folder;
  if (!path.empty()) path += '/';
  return path.append(name);
}

}  // namespace eckart::io
