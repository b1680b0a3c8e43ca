#include "app/ledger_import.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "app/ledger_report.hpp"
#include "core/error.hpp"
#include "tests/unit/app/recorded_outputs.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;
using settings::FileChoice;
using testing::ElementsAre;

class LedgerImportTest : public RecordedOutputsTest {
 protected:
  /// Returns the outputs, failures and texts of the ledger.
  std::vector<std::string> contents() const {
    std::vector<std::string> lines;
    visit_ledger(
        at("out"), choice_,
        {.settings = [&](const auto& text) { lines.push_back("text " + text); },
         .output = [&](const auto& entry) { lines.push_back(entry.output); },
         .failure =
             [&](const auto& failure) {
               lines.push_back(fs::path(failure.input).filename().native() + " " + failure.detail);
             }});
    return lines;
  }
};

TEST_F(LedgerImportTest, takes_what_is_in_the_folder_and_not_known) {
  for (const bool is_own : {true, false}) {
    choice_ = is_own ? FileChoice{} : FileChoice::at(at("shared.db"));
    fs::remove_all(at("out"));
    write("in/bad.jpg", "12345");
    struct stat bad {};
    ASSERT_EQ(::stat(at("in/bad.jpg").c_str(), &bad), 0);
    const files::FileState state = io::state_of(bad);
    const ledger::OutputEntry a = output("sub/a.png", "in", "a.jpg");
    ledger::OutputEntry larger = output("larger.png", "in", "b.jpg"), lost = larger;
    larger.bytes = 6;
    lost.output = "lost.png";
    {
      LedgerImport import(at("out"), choice_);
      import.add_settings("rank 5");
      import.add(a);
      import.add(larger);
      import.add(lost);
      import.add(ledger::FailureEntry{at("in/bad.jpg"), state, FailureReason::corrupt, "why"});
      import.add(ledger::FailureEntry{at("in/none.jpg"), state, FailureReason::corrupt, "why"});
      files::FileState older = state;
      --older.mtime_ns;
      import.add(ledger::FailureEntry{at("in/bad.jpg"), older, FailureReason::corrupt, "old"});
      const ImportCounts counts = import.finish();
      EXPECT_EQ(counts.outputs, 1);
      EXPECT_EQ(counts.missing, 2);
      EXPECT_EQ(counts.already_known, 0);
      EXPECT_EQ(counts.failures, 1);
    }
    EXPECT_THAT(contents(), ElementsAre("text rank 5", "sub/a.png", "bad.jpg why"));
    LedgerImport again(at("out"), choice_);
    again.add(a);
    again.add(ledger::FailureEntry{at("in/bad.jpg"), state, FailureReason::unsupported, "new"});
    EXPECT_EQ(again.finish().already_known, 1);
    EXPECT_THAT(contents(), ElementsAre("text rank 5", "sub/a.png", "bad.jpg why"));
  }
}

/// More than are read or recorded at a time, beside those of another folder.
TEST_F(LedgerImportTest, takes_many_outputs_in_their_order) {
  constexpr int kOutputs = 1100;
  choice_ = FileChoice::at(at("shared.db"));
  write("out/0000.png", "bytes");
  const ledger::OutputEntry first = output("0000.png", "in", "a.jpg");
  LedgerImport import(at("out"), choice_);
  for (int i = 0; i < kOutputs; ++i) {
    ledger::OutputEntry entry = first;
    entry.output = std::to_string(10000 + i).substr(1) + ".png";
    if (i > 0) fs::create_hard_link(at("out/0000.png"), at("out") / entry.output);
    import.add(entry);
  }
  EXPECT_EQ(import.finish().outputs, kOutputs);
  fs::create_directories(at("out2"));
  fs::copy_file(at("out/0000.png"), at("out2/z.png"));
  {
    ledger::OutputEntry entry = first;
    entry.output = "z.png";
    LedgerImport other(at("out2"), choice_);
    other.add(entry);
    EXPECT_EQ(other.finish().outputs, 1);
  }
  const std::vector<std::string> all = contents();
  ASSERT_EQ(all.size(), std::size_t(kOutputs));
  for (int i = 0; i < kOutputs; ++i)
    EXPECT_EQ(all[std::size_t(i)], std::to_string(10000 + i).substr(1) + ".png");
}

TEST_F(LedgerImportTest, needs_a_ledger_to_visit) {
  fs::create_directories(at("out"));
  EXPECT_THROW(contents(), FatalError);
  try {
    open_folder(at("none"));
    FAIL();
  } catch (const FatalError& error) {
    EXPECT_EQ(error.code(), ExitCode::no_input);
    EXPECT_EQ(error.what(), at("none").native() + ": No such file or directory");
  }
}

TEST_F(LedgerImportTest, is_the_source_of_a_report) {
  ledger::OutputEntry done = output("a.png", "in", "a.jpg");
  done.report = R"({"psnr_db":31.5})";
  record({.done = {done},
          .failed = {{at("in/bad.jpg"), {}, FailureReason::corrupt, "why"}},
          .cleared = {}});
  reports::ImageReport report(at("report.jsonl"));
  add_ledger_records(report, at("out"), choice_);
  report.close();
  std::ifstream lines(at("report.jsonl"));
  std::string line, all;
  while (std::getline(lines, line)) all += line + "\n";
  for (const std::string& part :
       {at("in/a.jpg").native(), at("out/a.png").native(), std::string("31.5"),
        std::string("\"done\""), at("in/bad.jpg").native(), std::string("\"corrupt\""),
        std::string("\"why\"")})
    EXPECT_THAT(all, testing::HasSubstr(part));
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 2);
}

}  // namespace
}  // namespace eckart::app
