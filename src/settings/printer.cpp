#include <algorithm>
#include <string>

#include "settings/schema.hpp"

namespace eckart::settings {

std::string to_yaml(const Settings& settings) {
  constexpr std::size_t kCommentColumn = 26;
  std::string yaml;
  std::string_view open_section;
  for (const Key& key : schema()) {
    const std::size_t dot = key.path.find('.');
    const bool nested = dot != std::string_view::npos;
    const std::string_view section = nested ? key.path.substr(0, dot) : std::string_view{};
    if (nested && section != open_section) yaml.append(section).append(":\n");
    open_section = section;

    std::string line = nested ? "  " : "";
    line.append(nested ? key.path.substr(dot + 1) : key.path).append(": ");
    line.append(key.print(settings));
    line.resize(std::max(line.size() + 1, kCommentColumn), ' ');
    yaml.append(line).append("# ").append(key.comment);
    yaml.append(" (").append(key.expected).append(")\n");
  }
  return yaml;
}

}  // namespace eckart::settings
