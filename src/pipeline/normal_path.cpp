#include "pipeline/normal_path.hpp"

#include <string_view>

namespace eckart::pipeline {
namespace {

/// Whether lexically_normal() would not change it.
bool is_normal(std::string_view path) {
  if (path.empty()) return false;
  if (path.front() == '/') path.remove_prefix(1);
  for (;;) {
    const std::size_t slash = path.find('/');
    const std::string_view name = path.substr(0, slash);
    if (name.empty() || name == "." || name == "..") return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

}  // namespace

std::string normal_path(const std::filesystem::path& path) {
  return is_normal(path.native()) ? path.native() : path.lexically_normal().native();
}

std::string normal_path(const std::filesystem::path& folder, const std::filesystem::path& path) {
  const std::string& name = path.native();
  if (is_normal(name)) {
    if (name.front() == '/') return name;
    if (is_normal(folder.native())) return folder.native() + '/' + name;
  }
  return (folder / path).lexically_normal().native();
}

std::string relative_path(const std::string& path, const std::filesystem::path& root) {
  const std::string& folder = root.native();
  const bool is_below = !folder.empty() && folder.back() != '/' &&
                        path.size() > folder.size() + 1 && path.starts_with(folder) &&
                        path[folder.size()] == '/';
  if (is_below) return path.substr(folder.size() + 1);
  return std::filesystem::path(path).lexically_relative(root).native();
}

}  // namespace eckart::pipeline
