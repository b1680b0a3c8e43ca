#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "settings/schema.hpp"
#include "settings/value_types.hpp"
#include "settings/yaml_text.hpp"

namespace eckart::settings {
namespace {

/// A scalar's text, or the scalars of a list joined by commas where the key takes a list.
std::string text_of(const Key& key, const YAML::Node& node) {
  if (node.IsScalar()) return node.Scalar();
  std::string text;
  bool readable = key.takes_list && node.IsSequence() && node.size() > 0;
  for (std::size_t i = 0; readable && i < node.size(); ++i) {
    readable = node[i].IsScalar();
    if (readable) text += (i == 0 ? "" : ",") + node[i].Scalar();
  }
  if (!readable) throw std::invalid_argument(found(node) + " is not " + key.expected);
  return text;
}

/// Walks one YAML document and sets what it says.
class Reader {
 public:
  Reader(const Origin& origin, Settings& settings) : origin_(origin), settings_(settings) {}

  /// `path` is the key, or section, whose value `node` is; `key_mark` is where it was named.
  void read(const std::string& path, const YAML::Mark& key_mark, const YAML::Node& node) {
    const Key* key = find_key(path);
    // An empty value has no place of its own.
    const YAML::Mark mark = node.IsNull() ? key_mark : node.Mark();
    if (key != nullptr) {
      read_value(*key, mark, node);
    } else if (!is_section(path)) {
      fail_unknown(path, key_mark);
    } else if (node.IsMap()) {
      read_section(path, node);
    } else if (!node.IsNull()) {  // a section whose keys are all commented out is fine
      origin_.fail(mark, (path.empty() ? "" : path + ": ") + found(node) + " is not a map of keys");
    }
  }

 private:
  void read_section(const std::string& path, const YAML::Node& map) {
    for (const auto& entry : map) {
      const YAML::Mark mark = entry.first.Mark();
      if (!entry.first.IsScalar() || entry.first.Scalar().empty()) {
        origin_.fail(mark, found(entry.first) + " is not the name of a key");
      }
      const std::string name = entry.first.Scalar();
      const std::string child = path.empty() ? name : path + "." + name;
      if (!seen_.insert(child).second) origin_.fail(mark, one_line(child) + ": is given twice");
      read(child, mark, entry.second);
    }
  }

  void read_value(const Key& key, const YAML::Mark& mark, const YAML::Node& node) {
    try {
      key.read(settings_, text_of(key, node));
    } catch (const std::invalid_argument& error) {
      origin_.fail(mark, std::string(key.path) + ": " + error.what());
    }
  }

  [[noreturn]] void fail_unknown(const std::string& path, const YAML::Mark& mark) const {
    const std::string_view guess = nearest(path);
    std::string message = one_line(path) + ": unknown key";
    if (!guess.empty()) message.append("; did you mean ").append(guess).append("?");
    origin_.fail(mark, message);
  }

  const Origin& origin_;
  Settings& settings_;
  std::set<std::string> seen_;
};

/// The value of a --set. No key's value is a map, so a brace begins a text such as {stem}.{ext}.
YAML::Node parse_value(const Origin& origin, const std::string& path, const std::string& text) {
  const bool verbatim = text.empty() || (text[0] == '{' && find_key(path) != nullptr);
  return verbatim ? YAML::Node(text) : parse(origin, text);
}

}  // namespace

Settings load_file(const std::filesystem::path& path, Settings base) {
  const Origin origin{path.string(), true};
  Reader(origin, base).read("", YAML::Mark(), parse(origin, read_text(path)));
  return base;
}

Settings load_text(const std::string& text, const std::string& name) {
  const Origin origin{name, true};
  Settings settings;
  Reader(origin, settings).read("", YAML::Mark(), parse(origin, text));
  return settings;
}

void apply(Settings& settings, std::string_view assignment) {
  const Origin origin{"--set " + one_line(assignment), false};
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    throw SettingsError(origin.name + ": expected key=value");
  }
  const std::string path(assignment.substr(0, equals));
  const std::string text(assignment.substr(equals + 1));
  Settings changed = settings;
  Reader(origin, changed).read(path, YAML::Mark(), parse_value(origin, path, text));
  settings = std::move(changed);
}

}  // namespace eckart::settings
