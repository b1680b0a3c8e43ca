// Tests that the manual pages and the shell completion have exactly the commands, flags, keys and
// defaults of the program.
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "tests/cli/cli_fixture.hpp"

namespace eckart::test {
namespace {

using Words = std::set<std::string>;
using ::testing::Contains;
using ::testing::ElementsAreArray;
using ::testing::UnorderedElementsAreArray;

constexpr const char* kPages = ECKART_ROOT "/docs/man";
constexpr const char* kCompletion = ECKART_ROOT "/deploy/completion";

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

/// Returns a page with roff character escapes replaced.
std::string page(const std::string& name) {
  std::ostringstream text;
  text << std::ifstream(fs::path(kPages) / name).rdbuf();
  EXPECT_FALSE(text.str().empty()) << "there is no page " << name;
  return replaced(replaced(text.str(), "\\-", "-"), "\\(dq", "\"");
}

std::string section(const std::string& page, const std::string& name) {
  const std::size_t begin = page.find(".SH " + name + "\n");
  if (begin == page.npos) return {};
  return page.substr(begin, page.find("\n.SH ", begin) - begin);
}

/// Returns the headings of paragraphs: the lines after .TP, without macros.
std::vector<std::string> headings(const std::string& page) {
  std::vector<std::string> found;
  bool is_next = false;
  for (const std::string& line : lines_of(page)) {
    if (is_next) found.push_back(line.substr(line.find(' ') + 1));
    is_next = line == ".TP";
  }
  return found;
}

Words flags_in(const std::string& text) {
  static const std::regex flag("(^|[ ,\"])(--?[a-zA-Z][a-z0-9-]*)");
  Words flags;
  for (auto match = std::sregex_iterator(text.begin(), text.end(), flag);
       match != std::sregex_iterator(); ++match)
    flags.insert((*match)[2]);
  return flags;
}

/// Returns "section.key: value" for each setting of a settings file.
std::vector<std::string> keys_of(const std::string& yaml) {
  static const std::regex line_of("( *)([a-z_]+):( [^#]*)?.*");
  std::vector<std::string> keys;
  std::string section;
  std::smatch match;
  for (const std::string& line : lines_of(yaml)) {
    if (!std::regex_match(line, match, line_of)) continue;
    if (match[1].length() == 0) section.clear();
    std::string value = std::regex_replace(match[3].str(), std::regex("^ +| +$"), "");
    if (value.empty()) {
      section = match[2].str() + ".";
    } else {
      keys.push_back(section + match[2].str() + ": " + value);
    }
  }
  return keys;
}

class ManPageTest : public CliTest {
 protected:
  std::string help(const Names& command) {
    Names arguments = command;
    arguments.emplace_back("--help");
    const ProcessResult result = run(arguments);
    EXPECT_EQ(result.code, 0);
    return result.out;
  }
  Names commands() {
    Names names;
    const std::string text = help({});
    const std::size_t begin = text.find(":\n  run ");
    for (const std::string& line : lines_of(text.substr(begin, text.find("\nOptions:") - begin))) {
      if (line.starts_with("  ") && line[2] != ' ')
        names.push_back(line.substr(2, line.find(' ', 2) - 2));
    }
    EXPECT_THAT(names, Contains("run"));
    return names;
  }
  /// Returns all spellings of the flags of a command.
  Words flags(const Names& command) {
    Words all;
    static const std::regex option("  (    |-., )--[a-z].*");
    for (const std::string& line : lines_of(help(command))) {
      if (std::regex_match(line, option))
        all.merge(flags_in(line.substr(0, line.find("  ", line.find("--")))));
    }
    EXPECT_THAT(all, Contains("--help"));
    return all;
  }
  /// Returns the output of `script` in `shell`, in which `eckart` is the program under test.
  Names lines_from(const std::string& shell, const std::string& script) {
    const ProcessResult result = run(
        {"-c", script}, {.program = shell,
                         .environment = {{"PATH", fs::path(ECKART_PROGRAM).parent_path().native() +
                                                      ":/usr/bin:/bin"}}});
    EXPECT_EQ(result.err, "");
    return lines_of(result.out);
  }
  /// Returns the completions that bash offers for the last word.
  Names bash_offers(const Names& words) {
    std::string script =
        "compopt() { :; }\nsource " + std::string(kCompletion) + "/eckart.bash\nCOMP_WORDS=(eckart";
    for (const std::string& word : words) script += " '" + word + "'";
    return lines_from("/bin/bash", script + ")\nCOMP_CWORD=" + std::to_string(words.size()) +
                                       "\n_eckart\nprintf '%s\\n' \"${COMPREPLY[@]}\"");
  }
};

TEST_F(ManPageTest, covers_exactly_the_commands) {
  const std::string overview = page("eckart.1");
  Names pages = {"eckart.1", "eckart.yaml.5"};
  for (const std::string& command : commands()) {
    pages.push_back("eckart-" + command + ".1");
    EXPECT_THAT(overview, HasSubstr(".BR eckart-" + command + " (1)"));
  }
  Names found;
  for (const auto& entry : fs::directory_iterator(kPages)) found.push_back(entry.path().filename());
  EXPECT_THAT(found, UnorderedElementsAreArray(pages));
}

TEST_F(ManPageTest, explains_exactly_the_flags) {
  const auto explained = [](const std::string& name) {
    Words all;
    for (const std::string& heading : headings(section(page(name), "OPTIONS")))
      all.merge(flags_in(heading));
    return all;
  };
  EXPECT_EQ(explained("eckart.1"), flags({}));
  for (const std::string& command : commands())
    EXPECT_EQ(explained("eckart-" + command + ".1"), flags({command})) << command;
}

TEST_F(ManPageTest, explains_exactly_the_keys_and_defaults) {
  write("watch.yaml", "watches: [{input: /a, output: /b}]\n");
  const std::string settings = run({"run", "--print-config"}).out;
  std::string watch = run({"watch", "--config", "watch.yaml", "--print-config"}).out;
  watch = watch.substr(watch.find("watches:"));
  watch = watch.substr(watch.find('\n') + 1);
  watch =
      replaced(replaced(replaced("\n" + watch, "\n    ", "\n"), "\n  - ", "\n"), ": \"/a\"", ":");

  const std::string manual = page("eckart.yaml.5");
  EXPECT_THAT(headings(section(manual, "KEYS")), ElementsAreArray(keys_of(settings)));
  Names of_watch = {"input.folder", "output.folder"};
  for (const std::string& key : keys_of(watch)) {
    if (!key.starts_with("input") && !key.ends_with("\"/b\"")) of_watch.push_back(key);
  }
  EXPECT_THAT(headings(section(manual, "WATCHES")), ElementsAreArray(of_watch));
}

TEST_F(ManPageTest, lists_every_exit_code) {
  const std::string codes = section(page("eckart.1"), "EXIT STATUS");
  for (const ExitCode code :
       {ExitCode::ok, ExitCode::some_failed, ExitCode::usage, ExitCode::nothing_readable,
        ExitCode::no_input, ExitCode::unavailable, ExitCode::internal, ExitCode::cannot_create,
        ExitCode::io_error, ExitCode::temporary, ExitCode::no_permission, ExitCode::configuration})
    EXPECT_THAT(headings(codes), Contains(std::to_string(int(code))));
}

using ShellCompletionTest = ManPageTest;

TEST_F(ShellCompletionTest, completes_every_command_and_flag_in_bash) {
  Names first = commands();
  EXPECT_THAT(bash_offers({"r"}), UnorderedElementsAreArray({"run", "requeue"}));
  first.insert(first.end(), {"help", "--help", "--version"});
  EXPECT_THAT(bash_offers({""}), UnorderedElementsAreArray(first));
  for (const std::string& command : commands()) {
    const Words all = flags({command});
    EXPECT_THAT(bash_offers({command, "-"}), UnorderedElementsAreArray(all)) << command;
  }
}

TEST_F(ShellCompletionTest, completes_only_valid_values_in_bash) {
  for (const std::string flag : {"--backend", "--solver", "--format"}) {
    const Names values = bash_offers({"run", flag, ""});
    EXPECT_GT(values.size(), 1U) << flag;
    for (const std::string& value : values)
      EXPECT_EQ(run({"run", flag, value, "--print-config"}).code, 0) << flag << " " << value;
  }
  EXPECT_THAT(bash_offers({"synth", "--depth", ""}), ElementsAre("8", "16"));
  EXPECT_THAT(bash_offers({"run", "--set", "output.jpeg_q"}), ElementsAre("output.jpeg_quality="));
  EXPECT_THAT(bash_offers({"run", "--rank", ""}), ElementsAre(""));
}

TEST_F(ShellCompletionTest, completes_paths_in_bash) {
  write("scans/day1/a.png", std::string());
  write("scans.yaml", std::string());
  EXPECT_THAT(bash_offers({"run", "sc"}), UnorderedElementsAreArray({"scans", "scans.yaml"}));
  EXPECT_THAT(bash_offers({"watch", "--config", "sc"}),
              UnorderedElementsAreArray({"scans", "scans.yaml"}));
  EXPECT_THAT(bash_offers({"status", "sc"}), ElementsAre("scans"));
  EXPECT_THAT(bash_offers({"run", "--json", "-o", "scans/"}), ElementsAre("scans/day1"));
}

TEST_F(ShellCompletionTest, completes_every_command_and_flag_in_zsh) {
  if (!fs::exists("/usr/bin/zsh")) GTEST_SKIP() << "there is no zsh here";
  const auto zsh_offers = [&](const std::string& words) {
    return lines_from("/usr/bin/zsh",
                      "_arguments() { print -rl -- \"$@\" }\n"
                      "_describe() { print -rl -- ${(P)4} }\n"
                      "words=(eckart " +
                          words + "); CURRENT=$#words\nsource " + kCompletion + "/_eckart");
  };
  Names first;
  for (const std::string& line : zsh_offers("''")) first.push_back(line.substr(0, line.find(':')));
  for (const std::string& command : commands()) {
    EXPECT_THAT(first, Contains(command));
    Words offered;
    for (const std::string& line : zsh_offers(command + " ''")) {
      if (line.starts_with("*-")) offered.insert(line.substr(1, line.find('[') - 1));
    }
    EXPECT_EQ(offered, flags({command})) << command;
  }
}

}  // namespace
}  // namespace eckart::test
