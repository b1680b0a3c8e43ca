#include "settings/yaml_text.hpp"

#include <cerrno>
#include <fstream>
#include <system_error>
#include <vector>

namespace eckart::settings {

std::string found(const YAML::Node& node) {
  if (node.IsScalar()) return in_quotes(node.Scalar());
  if (node.IsMap()) return "a map";
  if (node.IsSequence()) return node.size() == 0 ? "an empty list" : "a list";
  return "null";
}

YAML::Node parse(const Origin& origin, const std::string& text) {
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    if (documents.size() > 1) {
      origin.fail(documents[1].Mark(), "a second YAML document; expected one");
    }
    return documents.empty() ? YAML::Node() : documents[0];
  } catch (const YAML::Exception& error) {
    origin.fail(error.mark, "not valid YAML: " + error.msg);
  }
}

std::string read_text(const std::filesystem::path& path) {
  constexpr std::size_t kMostBytes = 1 << 20;
  const auto fail = [&path](const std::string& why) {
    throw SettingsError(path.string() + ": cannot be read: " + why);
  };
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) fail("it is a folder");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(std::generic_category().message(errno));
  std::string text(kMostBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) fail(std::generic_category().message(errno));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kMostBytes) fail("larger than 1 MiB");
  return text;
}

}  // namespace eckart::settings
