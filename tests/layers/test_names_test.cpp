// The names of tests follow docs/contributing.md: `Subject.does_something_in_a_case`.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <set>
#include <string>

namespace eckart {
namespace {

namespace fs = std::filesystem;

const std::set<std::string> kVerbsWithoutS = {"may", "can", "cannot", "must"};

struct TestName {
  std::string macro, suite, test;
};

/// The test that these lines of code begin with. A macro may take two lines.
std::optional<TestName> find_test(const std::string& lines) {
  static const std::regex kTest(R"((TEST|TEST_F|TEST_P|TYPED_TEST)\(\s*(\w+),\s*(\w+)\))");
  std::smatch match;
  if (!std::regex_search(lines, match, kTest, std::regex_constants::match_continuous)) return {};
  return TestName{match[1], match[2], match[3]};
}

/// What is wrong with the name, or "".
std::string name_error(const TestName& name) {
  static const std::regex kSnakeCase("[a-z][a-z0-9]*(_[a-z0-9]+)*");
  if (!std::regex_match(name.test, kSnakeCase)) return "the test is not in lower_snake_case";
  const std::string verb = name.test.substr(0, name.test.find('_'));
  if (!verb.ends_with('s') && !kVerbsWithoutS.contains(verb))
    return "the test does not begin with a verb in the third person, like rejects";
  const bool has_fixture = name.macro != "TEST";
  if (has_fixture && !name.suite.ends_with("Test")) return "the fixture does not end in Test";
  if (!has_fixture && name.suite.ends_with("Test")) return "a suite without fixture ends in Test";
  return "";
}

TEST(TestName, follows_the_convention) {
  int tests = 0;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(ECKART_ROOT) / "tests")) {
    const fs::path path = entry.path();
    if (path.extension() != ".cpp" && path.extension() != ".cu") continue;
    std::ifstream file(path);
    std::string line, next;
    std::getline(file, line);
    for (int number = 1; file; ++number, line = next) {
      std::getline(file, next);
      const std::optional<TestName> name = find_test(line + next);
      if (!name) continue;
      ++tests;
      EXPECT_EQ(name_error(*name), "")
          << path.string() << ':' << number << ": " << name->suite << '.' << name->test;
    }
  }
  EXPECT_GT(tests, 1500);
}

TEST(TestName, is_found_in_one_or_two_lines) {
  EXPECT_EQ(find_test("TEST_F(BudgetTest, is_full) {")->macro, "TEST_F");
  EXPECT_EQ(find_test("TYPED_TEST(BudgetTest,           is_full) {")->test, "is_full");
  EXPECT_FALSE(find_test("  TEST(Budget, is_full) {"));
  EXPECT_FALSE(find_test("TYPED_TEST_SUITE(BudgetTest, Types);"));
}

TEST(TestName, has_an_error_for_each_violation) {
  EXPECT_EQ(name_error({"TEST", "Budget", "may_be_full"}), "");
  EXPECT_EQ(name_error({"TEST_P", "BudgetTest", "is_full_after_2_images"}), "");
  EXPECT_NE(name_error({"TEST", "Budget", "isFull"}), "");
  EXPECT_NE(name_error({"TEST", "Budget", "full_waits"}), "");
  EXPECT_NE(name_error({"TEST", "BudgetTest", "is_full"}), "");
  EXPECT_NE(name_error({"TEST_F", "Budget", "is_full"}), "");
  EXPECT_NE(name_error({"TYPED_TEST", "Budget", "is_full"}), "");
}

}  // namespace
}  // namespace eckart
