// Words that docs/glossary.md has given up may not come back as parts of identifiers.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

namespace eckart {
namespace {

namespace fs = std::filesystem;

struct BannedWord {
  std::string word;
  std::string replacement;
};

const std::vector<BannedWord> kBannedWords = {
    {"kMost", "kMax"},
    {"kLeast", "kMin"},
    {"kFew", "kMin"},
    {"kLongest", "kMax"},
    {"kShortest", "kMin"},
    {"most_loss", "loss_estimate"},
    {"done_again", "recomputed or reprocessed"},
    {"redone", "reprocessed"},
    {"Carver", "WorkspaceAllocator"},
    {"Handout", "ReadyQueue"},
    {"Settling", "StabilityTracker"},
    {"TakenFile", "ClaimedFile"},
    {"Announcement", "PublishIntent"},
    {"Upkeep", "Maintenance"},
    {"Caretaker", "Maintenance"},
    {"patience", "timeout"},
    {"make_room", "evict_if_full"},
    {"remark", "warning"},
    {"turned_upright", "orientation"},
    {"eckart_room", "eckart_component"},
    {"Float32Way", "float32 solver"},
    {"unsettled", "uncertified"},
    {"handout", "ready queue"},
    {"InputsThatStay", "kept input"},
    {"Pulse", "health check"},
    {"mending", "recovery"},
    {"torture", "crash test"},
    {"verdict", "bottleneck text"},
    {"orthonormalise", "orthonormalize"},
    {"colour", "color"},
    {"neighbour", "neighbor"},
    {"normalise", "normalize"},
    {"optimise", "optimize"},
    {"cancelled", "canceled"},
};

/// The banned word in a line of code or CMake, or null.
const BannedWord* find_banned_word(const std::string& line) {
  const auto found = std::find_if(
      kBannedWords.begin(), kBannedWords.end(),
      [&](const BannedWord& banned) { return line.find(banned.word) != std::string::npos; });
  return found == kBannedWords.end() ? nullptr : &*found;
}

TEST(Glossary, has_no_banned_word_in_the_code) {
  int files = 0;
  for (const char* folder : {"src", "tests"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(ECKART_ROOT) / folder)) {
      const fs::path path = entry.path();
      const std::string extension = path.extension();
      if (!entry.is_regular_file() || path.filename() == "glossary_test.cpp" ||
          (extension != ".cpp" && extension != ".hpp" && extension != ".cu" &&
           extension != ".cuh" && extension != ".cmake" && path.filename() != "CMakeLists.txt"))
        continue;
      ++files;
      std::ifstream file(path);
      std::string line;
      for (int number = 1; std::getline(file, line); ++number) {
        const BannedWord* banned = find_banned_word(line);
        EXPECT_FALSE(banned) << path.string() << ':' << number << ": \"" << banned->word
                             << "\" is not used; docs/glossary.md says " << banned->replacement;
      }
    }
  }
  EXPECT_GT(files, 300);
}

TEST(Glossary, finds_a_banned_word_within_an_identifier) {
  ASSERT_TRUE(find_banned_word("constexpr int kMostFiles = 3;"));
  EXPECT_EQ(find_banned_word("  double most_loss_db = 0;")->replacement, "loss_estimate");
  EXPECT_FALSE(find_banned_word("constexpr int kMaxFiles = 3;"));
}

}  // namespace
}  // namespace eckart
