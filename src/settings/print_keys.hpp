#pragma once

#include <algorithm>
#include <string>

#include "settings/key_table.hpp"

namespace eckart::settings {

/// Prints every key for which `is_included` returns true, with its value and a comment.
template <class T, class Predicate>
std::string print(const KeyTable<T>& table, const T& target, const Predicate& is_included) {
  constexpr std::size_t kCommentColumn = 26;
  std::string yaml;
  std::string_view open_section;
  for (const SettingKey<T>& key : table) {
    if (!is_included(key)) continue;
    const std::string_view section = section_of(key.path);
    if (!section.empty() && section != open_section) yaml.append(section).append(":\n");
    open_section = section;

    std::string line = section.empty() ? "" : "  ";
    line.append(section.empty() ? key.path : key.path.substr(section.size() + 1)).append(": ");
    const std::string value = key.print(target);
    const bool below = value.ends_with('\n');
    if (!below) line.append(value);
    line.resize(std::max(line.size() + 1, kCommentColumn), ' ');
    yaml.append(line).append("# ").append(key.comment);
    yaml.append(" (").append(key.expected).append(")\n");
    if (below) yaml.append(value);
  }
  return yaml;
}

template <class T>
std::string print(const KeyTable<T>& table, const T& target) {
  return print(table, target, [](const SettingKey<T>&) { return true; });
}

}  // namespace eckart::settings
