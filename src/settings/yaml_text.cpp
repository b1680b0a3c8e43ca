#include "settings/yaml_text.hpp"

#include <yaml-cpp/eventhandler.h>

#include <cerrno>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include "text/printable.hpp"

namespace eckart::settings {
namespace {

/// Finds the start of the last document.
class DocumentStart : public YAML::EventHandler {
 public:
  const YAML::Mark& mark() const { return mark_; }

  void OnDocumentStart(const YAML::Mark& mark) override { mark_ = mark; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}

 private:
  YAML::Mark mark_;
};

/// Does not use YAML::LoadAll(), which never ends if a document begins with a comma.
void check_one_document(const TextSource& origin, const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  DocumentStart start;
  if (parser.HandleNextDocument(start) && parser.HandleNextDocument(start)) {
    origin.fail(start.mark(), "a second YAML document; expected one");
  }
}

/// The parser's own message about a tab does not name it.
void check_no_tab(const TextSource& origin, const std::string& yaml) {
  std::istringstream lines(yaml);
  YAML::Mark mark;
  for (std::string line; std::getline(lines, line); ++mark.line) {
    const std::size_t text_begin = line.find_first_not_of(" \t");
    if (text_begin != line.npos && line.find('\t') < text_begin)
      origin.fail(mark, "not valid YAML: a tab before the text; use spaces");
  }
}

}  // namespace

std::string found(const YAML::Node& node) {
  if (node.IsScalar()) return quote(node.Scalar());
  if (node.IsMap()) return "a map";
  if (node.IsSequence()) return node.size() == 0 ? "an empty list" : "a list";
  return "null";
}

std::vector<std::string> scalar_texts(const YAML::Node& node, bool accepts_list,
                                      const std::string& expected) {
  if (node.IsScalar()) return {node.Scalar()};
  std::vector<std::string> texts;
  bool readable = accepts_list && node.IsSequence();
  for (std::size_t i = 0; readable && i < node.size(); ++i) {
    readable = node[i].IsScalar();
    if (readable) texts.push_back(node[i].Scalar());
  }
  if (!readable) throw std::invalid_argument(found(node) + " is not " + expected);
  return texts;
}

YAML::Node parse(const TextSource& origin, const std::string& text) {
  try {
    check_one_document(origin, text);
    return YAML::Load(text);
  } catch (const YAML::Exception& error) {
    check_no_tab(origin, text);
    origin.fail(error.mark, "not valid YAML: " + text::printable_message(error.msg));
  }
}

std::string read_text(const std::filesystem::path& path) {
  constexpr std::size_t kMaxBytes = 1 << 20, kBlockBytes = 1 << 12;
  const auto fail = [&path](const std::string& why) {
    throw SettingsError(path.string() + ": cannot be read: " + why);
  };
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) fail("it is a folder");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(std::generic_category().message(errno));
  std::string text;
  for (std::size_t size = 0; file && size <= kMaxBytes; size = text.size()) {
    text.resize(size + kBlockBytes);
    file.read(text.data() + size, kBlockBytes);
    if (file.bad()) fail(std::generic_category().message(errno));
    text.resize(size + static_cast<std::size_t>(file.gcount()));
  }
  if (text.size() > kMaxBytes) fail("larger than 1 MiB");
  return text;
}

}  // namespace eckart::settings
