// The words in the last table of docs/glossary.md do not return as parts of identifiers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

namespace eckart {
namespace {

namespace fs = std::filesystem;

struct BannedWord {
  std::string word;
  std::string replacement;
};

/// The words between backticks in a cell of a table.
std::vector<std::string> quoted_words(const std::string& cell) {
  std::vector<std::string> words;
  for (std::size_t begin = cell.find('`'); begin != std::string::npos;) {
    const std::size_t end = cell.find('`', begin + 1);
    if (end == std::string::npos) break;
    words.push_back(cell.substr(begin + 1, end - begin - 1));
    begin = cell.find('`', end + 1);
  }
  return words;
}

/// The table of the section "Words that are not used".
std::vector<BannedWord> read_banned_words(std::istream& document) {
  std::vector<BannedWord> words;
  bool is_in_section = false;
  for (std::string line; std::getline(document, line);) {
    if (line.starts_with("## ")) is_in_section = line == "## Words that are not used";
    if (!is_in_section || !line.starts_with("| `")) continue;
    const std::size_t middle = line.find(" | ");
    for (std::string& word : quoted_words(line.substr(0, middle))) {
      words.push_back({std::move(word), line.substr(middle + 3, line.size() - middle - 5)});
    }
  }
  return words;
}

/// The first word of the list in the line, or null. A word that begins with a lowercase letter is
/// not found after another letter: "recommending" does not contain "mending".
const BannedWord* find_banned_word(const std::vector<BannedWord>& words, const std::string& line) {
  const auto contains = [&](const BannedWord& banned) {
    const bool is_lowercase = std::islower(static_cast<unsigned char>(banned.word[0])) != 0;
    for (std::size_t at = line.find(banned.word); at != std::string::npos;
         at = line.find(banned.word, at + 1)) {
      const bool follows_letter =
          at > 0 && std::isalpha(static_cast<unsigned char>(line[at - 1])) != 0;
      if (!is_lowercase || !follows_letter) return true;
    }
    return false;
  };
  const auto found = std::find_if(words.begin(), words.end(), contains);
  return found == words.end() ? nullptr : &*found;
}

/// Whether the file is a source file, a script or a build file.
bool is_source(const fs::path& path) {
  static const std::set<std::string> kExtensions = {".cpp", ".hpp",  ".cu",  ".cuh", ".cmake",
                                                    ".inc", ".py",   ".sh",  ".js",  ".mjs",
                                                    ".css", ".html", ".yml", ".txt", ".dict"};
  if (path.filename() == "glossary_test.cpp") return false;
  if (path.has_extension()) return kExtensions.contains(path.extension());
  std::ifstream file(path);
  std::string line;
  return std::getline(file, line) && line.starts_with("#!");
}

std::vector<fs::path> source_files(const fs::path& folder) {
  static const std::set<fs::path> kSkippedFolders = {"node_modules", "seeds", "__pycache__"};
  std::vector<fs::path> files;
  for (auto entry = fs::recursive_directory_iterator(folder);
       entry != fs::recursive_directory_iterator(); ++entry) {
    if (entry->is_directory() && kSkippedFolders.contains(entry->path().filename())) {
      entry.disable_recursion_pending();
    }
    if (entry->is_regular_file() && is_source(entry->path())) files.push_back(entry->path());
  }
  return files;
}

std::vector<BannedWord> banned_words() {
  std::ifstream document(fs::path(ECKART_ROOT) / "docs/glossary.md");
  return read_banned_words(document);
}

TEST(Glossary, has_no_banned_word_in_the_code) {
  const std::vector<BannedWord> words = banned_words();
  ASSERT_GT(words.size(), 30);
  int files = 0;
  for (const char* folder : {"src", "tests", "tools"}) {
    for (const fs::path& path : source_files(fs::path(ECKART_ROOT) / folder)) {
      ++files;
      std::ifstream file(path);
      std::string line;
      for (int number = 1; std::getline(file, line); ++number) {
        const BannedWord* banned = find_banned_word(words, line);
        EXPECT_FALSE(banned) << path.string() << ':' << number << ": \"" << banned->word
                             << "\" is not used; docs/glossary.md says " << banned->replacement;
      }
    }
  }
  EXPECT_GT(files, 900);
}

TEST(Glossary, finds_a_banned_word_within_an_identifier) {
  const std::vector<BannedWord> words = banned_words();
  ASSERT_TRUE(find_banned_word(words, "constexpr int kMostFiles = 3;"));
  EXPECT_EQ(find_banned_word(words, "  double most_loss_db = 0;")->replacement, "`loss_estimate`");
  EXPECT_TRUE(find_banned_word(words, "int max_patience = 1;"));
  EXPECT_FALSE(find_banned_word(words, "constexpr int kMaxFiles = 3;"));
  EXPECT_FALSE(find_banned_word(words, "// recommending"));
}

TEST(Glossary, reads_scripts_and_build_files) {
  const auto has_file = [](const fs::path& folder, const fs::path& name) {
    const std::vector<fs::path> files = source_files(fs::path(ECKART_ROOT) / folder);
    return std::any_of(files.begin(), files.end(),
                       [&](const fs::path& path) { return path.filename() == name; });
  };
  EXPECT_TRUE(has_file("tools", "crash-test"));
  EXPECT_TRUE(has_file("tools", "test.sh"));
  EXPECT_TRUE(has_file("tests", "cases.py"));
  EXPECT_TRUE(has_file("tests", "page_test.mjs"));
  EXPECT_TRUE(has_file("tests", "CMakeLists.txt"));
  EXPECT_TRUE(has_file("src", "components.cmake"));
}

}  // namespace
}  // namespace eckart
