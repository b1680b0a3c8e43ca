#pragma once

#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "settings/key_table.hpp"
#include "settings/value_types.hpp"
#include "settings/watches.hpp"
#include "settings/yaml_text.hpp"

namespace eckart::settings {

/// Reads a YAML map of keys into a T. All errors are SettingsError.
template <class T>
class SettingsReader {
 public:
  /// `name` precedes the keys in messages ("watches[1]"); empty for the keys of the whole file.
  SettingsReader(const TextSource& origin, const KeyTable<T>& table, T& target,
                 std::string name = {})
      : origin_(origin), table_(table), target_(target), name_(std::move(name)) {}

  void read(const YAML::Node& map) { read("", YAML::Mark(), map); }

  /// Reads the value `node` of the key or section `path`; `key_mark` is the position of the key.
  void read(const std::string& path, const YAML::Mark& key_mark, const YAML::Node& node) {
    // An empty value has no position.
    const YAML::Mark mark = node.IsNull() ? key_mark : node.Mark();
    if (const SettingKey<T>* key = table_.find(path)) return read_value(*key, mark, node);
    if (!table_.is_section(path)) fail_unknown_key(path, key_mark);
    if (node.IsMap()) return read_section(path, node);
    if (node.IsNull()) return;  // all keys of the section may be commented out
    const SettingKey<T>* key = node.IsScalar() ? table_.find_shorthand(path) : nullptr;
    if (key == nullptr)
      origin_.fail(mark, message_prefix(path) + found(node) + " is not a map of keys");
    check_not_repeated(std::string(key->path), mark);
    read_value(*key, mark, node);
  }

  /// Returns the values read, one for each key that has texts.
  std::vector<Assignment> assignments() && { return std::move(assignments_); }

 private:
  void read_section(const std::string& path, const YAML::Node& map) {
    for (const auto& entry : map) {
      const YAML::Mark mark = entry.first.Mark();
      if (!entry.first.IsScalar() || entry.first.Scalar().empty()) {
        origin_.fail(mark, message_prefix(path) + found(entry.first) + " is not the name of a key");
      }
      const std::string name = entry.first.Scalar();
      const std::string child = path.empty() ? name : path + "." + name;
      check_not_repeated(child, mark);
      read(child, mark, entry.second);
    }
  }

  void read_value(const SettingKey<T>& key, const YAML::Mark& mark, const YAML::Node& node) {
    const std::string path(key.path);
    try {
      if (key.read_node) return key.read_node(target_, origin_, node);
      std::vector<std::string> texts = scalar_texts(node, key.accepts_list, key.expected);
      key.read(target_, texts);
      assignments_.push_back(
          {path, std::move(texts), origin_.location(mark) + ": " + qualified_name(path)});
    } catch (const RankSpecError& error) {
      throw RankSettingError(origin_.location(mark) + ": " + qualified_name(path), error);
    } catch (const std::invalid_argument& error) {
      origin_.fail(mark, message_prefix(path) + error.what());
    }
  }

  void check_not_repeated(const std::string& path, const YAML::Mark& mark) {
    if (!seen_.insert(path).second)
      origin_.fail(mark, message_prefix(path) + "is given more than once");
  }

  [[noreturn]] void fail_unknown_key(const std::string& path, const YAML::Mark& mark) const {
    const std::string_view guess = table_.nearest_key(path);
    std::string message = message_prefix(path) + "unknown key";
    if (!guess.empty()) message.append("; did you mean ").append(guess).append("?");
    origin_.fail(mark, message);
  }

  std::string qualified_name(const std::string& path) const {
    return name_ + (name_.empty() || path.empty() ? "" : ".") + one_line(path);
  }

  /// Returns the prefix of a message about a key or section.
  std::string message_prefix(const std::string& path) const {
    const std::string name = qualified_name(path);
    return name.empty() ? "" : name + ": ";
  }

  const TextSource& origin_;
  const KeyTable<T>& table_;
  T& target_;
  const std::string name_;
  std::set<std::string> seen_;
  std::vector<Assignment> assignments_;
};

}  // namespace eckart::settings
