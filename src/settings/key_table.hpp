#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "settings/settings.hpp"
#include "settings/yaml_text.hpp"

namespace eckart::settings {

/// One setting of a T: a row of its key table.
template <class T>
struct SettingKey {
  std::string_view path;     ///< "batch.linger_ms"
  std::string_view comment;  ///< what it does
  std::string expected;      ///< its allowed values
  bool accepts_list;
  /// Sets the value from one text, or from the texts of a list. Throws std::invalid_argument.
  std::function<void(T&, const std::vector<std::string>& texts)> read;
  /// Returns the value as YAML; if it consists of whole lines, these belong below the key.
  std::function<std::string(const T&)> print;
  bool per_watch = false;             ///< may differ between watches
  bool is_section_shorthand = false;  ///< `section: value` is short for it
  /// Replaces `read` for values that are not texts. May also throw SettingsError.
  std::function<void(T&, const TextSource&, const YAML::Node&)> read_node = {};
};

/// Makes a key. `type` is a type of value_types.hpp. `first` and `members` lead from a T to the
/// value: &Settings::batch, &BatchSettings::pad.
template <class Type, class T, class Member, class... Members>
SettingKey<T> key(std::string_view path, std::string_view comment, const Type& type,
                  Member T::*first, Members... members) {
  return {
      path,
      comment,
      type.expected(),
      Type::kAcceptsList,
      [=](T& target, const std::vector<std::string>& texts) {
        if constexpr (Type::kAcceptsList) {
          type.read(texts, ((target.*first).*....*members));
        } else {
          type.read(texts.front(), ((target.*first).*....*members));
        }
      },
      [=](const T& target) { return type.print(((target.*first).*....*members)); },
  };
}

/// Converts a key of T to a key of Outer, which has the T in `part`.
template <class Outer, class T>
SettingKey<Outer> nested_key(const SettingKey<T>& inner, T Outer::*part) {
  SettingKey<Outer> key = {
      inner.path,
      inner.comment,
      inner.expected,
      inner.accepts_list,
      [=](Outer& outer, const std::vector<std::string>& texts) { inner.read(outer.*part, texts); },
      [=](const Outer& outer) { return inner.print(outer.*part); },
  };
  key.is_section_shorthand = inner.is_section_shorthand;
  return key;
}

/// Returns "batch" for "batch.pad"; empty if the key is in no section.
std::string_view section_of(std::string_view path);

/// Returns the most similar key or section of `keys`; empty if none is similar.
std::string_view nearest_key(const std::vector<std::string_view>& keys, std::string_view path);

/// All keys of a T, in the order of the file. The keys of a section are adjacent.
template <class T>
class KeyTable {
 public:
  explicit KeyTable(std::vector<SettingKey<T>> keys) : keys_(std::move(keys)) {}

  auto begin() const { return keys_.begin(); }
  auto end() const { return keys_.end(); }

  /// Returns nullptr if there is none.
  const SettingKey<T>* find(std::string_view path) const {
    const auto found = std::find_if(begin(), end(), [path](auto& key) { return key.path == path; });
    return found == end() ? nullptr : &*found;
  }

  /// Returns the key that `section: value` is short for; nullptr if there is none.
  const SettingKey<T>* find_shorthand(std::string_view section) const {
    const auto found = std::find_if(begin(), end(), [section](auto& key) {
      return key.is_section_shorthand && section_of(key.path) == section;
    });
    return found == end() ? nullptr : &*found;
  }

  /// The empty path denotes the whole table.
  bool is_section(std::string_view path) const {
    return path.empty() ||
           std::any_of(begin(), end(), [path](auto& key) { return section_of(key.path) == path; });
  }

  std::string_view nearest_key(std::string_view path) const {
    std::vector<std::string_view> paths;
    for (const SettingKey<T>& key : keys_) paths.push_back(key.path);
    return settings::nearest_key(paths, path);
  }

 private:
  std::vector<SettingKey<T>> keys_;
};

const KeyTable<Settings>& settings_table();

}  // namespace eckart::settings
