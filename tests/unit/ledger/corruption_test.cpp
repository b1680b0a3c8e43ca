// Ledgers that are damaged at random: each is used as runs and `eckart status` use it, and must
// work or be set aside.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <fstream>
#include <iterator>
#include <random>

#include "core/error.hpp"
#include "ledger/ledger.hpp"
#include "tests/support/temp_folder.hpp"

namespace eckart::ledger {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr int kRows = 300;
constexpr int kFailures = 40;

std::string output(int number) { return "deep/" + std::to_string(number) + ".png"; }

OutputEntry entry(int number) {
  return {.output = output(number),
          .input = "/in/" + output(number),
          .settings = settings_hash("png, rank 2"),
          .state = {1000 + number, 1700000000123456789, number},
          .bytes = 10 + number,
          .root_length = 4,
          .content_hash = std::string(32, char(number)),
          .report = std::string(200, 'r')};
}

const RequestEntry kRequest{"rank: 2", {"/in"}, "", {"png, rank 2"}};

void fill(Ledger& ledger) {
  ledger.record_request(kRequest);
  LedgerChanges changes;
  for (int i = 0; i < kRows; ++i) changes.done.push_back(entry(i));
  for (int i = 0; i < kFailures; ++i)
    changes.failed.push_back(
        {"/in/bad" + std::to_string(i), {1, 2, 3}, FailureReason::corrupt, "why"});
  ledger.record(changes);
  ledger.record_suspects(std::vector<Suspect>{{"/in/lost.png", {4, 5, 6}, 1}});
}

/// Asks it all that can be asked.
void read_all(Ledger& ledger) {
  for (int i = 0; i < kRows; ++i) ledger.find(output(i));
  for (int i = 0; i < kRows; ++i) ledger.find_intent({output(i), 1, 2});
  for (int i = 0; i < kFailures; ++i) ledger.find_failure("/in/bad" + std::to_string(i));
  ledger.count();
  ledger.count_by_settings();
  ledger.settings_text(settings_hash("png, rank 2"));
  ledger.failed(1000);
  ledger.suspects();
  ledger.request();
  ledger.roots();
  ledger.settings_texts();
  std::string last;
  int steps = 0;
  for (auto names = ledger.outputs_after("", 16); !names.empty();
       names = ledger.outputs_after(last, 16)) {
    last = names.back();
    ASSERT_LT(++steps, 10 * kRows) << "never comes to the end";
  }
  for (auto entries = ledger.entries_after("", 16); !entries.empty();
       entries = ledger.entries_after(last, 16)) {
    last = entries.back().output;
    ASSERT_LT(++steps, 20 * kRows) << "never comes to the end";
  }
}

/// What a run does, and one more row.
void use(Ledger& ledger) {
  ledger.record_request(kRequest);
  read_all(ledger);
  LedgerChanges changes;
  for (int i = 0; i <= kRows; i += 3) changes.done.push_back(entry(i));
  changes.failed.push_back({"/in/bad1", {1, 2, 3}, FailureReason::corrupt, "again"});
  changes.cleared = {"/in/bad2", "/in/lost.png"};
  changes.removed_inputs = {output(4)};
  ledger.record(changes);
  ledger.remove_outputs([] { return std::vector<std::string>{output(5)}; });
  ledger.clear_suspects();
  EXPECT_TRUE(ledger.find(output(kRows)));
}

/// Another process that has recorded a row, and has the ledger open until it is killed.
class OtherProcess {
 public:
  OtherProcess(const fs::path& file, int row) {
    std::array<int, 2> ready{};
    EXPECT_EQ(::pipe2(ready.data(), O_CLOEXEC), 0);
    process_ = ::fork();
    if (process_ == 0) live(file, row, ready[1]);
    ::close(ready[1]);
    char none = 0;
    EXPECT_EQ(::read(ready[0], &none, 1), 0);  // when it has closed its end
    ::close(ready[0]);
  }
  OtherProcess(const OtherProcess&) = delete;
  OtherProcess& operator=(const OtherProcess&) = delete;
  ~OtherProcess() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }

 private:
  [[noreturn]] static void live(const fs::path& file, int row, int ready) noexcept {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    Ledger ledger(file);
    ledger.record({{entry(row)}, {}, {}});
    ::close(ready);
    for (;;) ::pause();
  }

  pid_t process_ = 0;
};

class LedgerCorruption : public ::testing::Test {
 protected:
  void SetUp() override {
    {
      Ledger ledger(file());
      fill(ledger);
    }
    std::ifstream stream(file(), std::ios::binary);
    good_.assign(std::istreambuf_iterator<char>(stream), {});
    ASSERT_GT(good_.size(), 20 * kPage);
  }
  fs::path file() const { return folder_.path() / "out" / ".eckart" / "ledger.db"; }

  /// A new ledger of these bytes.
  void put(const std::string& bytes) const {
    fs::remove_all(file().parent_path());
    fs::create_directories(file().parent_path());
    std::ofstream(file(), std::ios::binary) << bytes;
  }

  std::string damaged(std::mt19937& random) const {
    const auto below = [&](std::size_t limit) { return std::size_t(random() % limit); };
    std::string bytes = good_;
    const std::size_t pages = bytes.size() / kPage, page = below(pages) * kPage;
    switch (below(7)) {
      case 0:  // bits anywhere
        for (std::size_t i = 0; i < 1 + below(64); ++i)
          bytes[below(bytes.size())] ^= char(1 << below(8));
        break;
      case 1:  // bytes of the header and the schema
        for (std::size_t i = 0; i < 1 + below(3); ++i) bytes[below(kPage)] = char(random());
        break;
      case 2:  // letters of the schema
        for (int tries = 0; tries < 1000; ++tries) {
          char& letter = bytes[kPage / 2 + below(kPage / 2)];
          if (!std::isalpha(static_cast<unsigned char>(letter))) continue;
          letter = char('a' + below(26));
          break;
        }
        break;
      case 3:
        bytes.replace(page, kPage, std::string(kPage, '\0'));
        break;
      case 4:
        for (std::size_t i = 0; i < kPage; ++i) bytes[page + i] = char(random());
        break;
      case 5:
        bytes.resize(below(bytes.size()));
        break;
      default:  // pages change places
        std::swap_ranges(bytes.begin() + std::ptrdiff_t(page),
                         bytes.begin() + std::ptrdiff_t(page + kPage),
                         bytes.begin() + std::ptrdiff_t(below(pages) * kPage));
    }
    return bytes;
  }

  /// Number of ledgers that were set aside.
  int count_renamed() const {
    int count = 0;
    for (const auto& found : fs::directory_iterator(file().parent_path()))
      count += found.path().filename().native().starts_with("ledger.db.damaged-");
    return count;
  }

  static constexpr std::size_t kPage = 4096;
  std::string good_;

 private:
  const test::TempFolder folder_;
};

TEST_F(LedgerCorruption, at_random_positions_never_stops_a_run) {
  constexpr int kLedgers = 300;
  int renamed = 0;
  for (int seed = 0; seed < kLedgers; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(static_cast<unsigned>(seed));
    put(damaged(random));
    const auto expect_answer = [&](const char* what, const auto& work) {
      try {
        work();
      } catch (const std::exception& error) {
        ADD_FAILURE() << what << ": " << error.what();
      } catch (...) {
        ADD_FAILURE() << what << ": another error";
      }
    };
    expect_answer("status", [&] {
      try {
        if (const auto ledger = Ledger::open_read_only(file())) read_all(*ledger);
      } catch (const FatalError& error) {
        EXPECT_EQ(error.code(), ExitCode::nothing_readable);
        EXPECT_THAT(error.what(), HasSubstr("the next run sets it aside"));
      }
    });
    for (int run = 0; run < 2; ++run) {
      expect_answer("run", [&] {
        Ledger ledger(file());
        use(ledger);
      });
    }
    EXPECT_LE(count_renamed(), 1);
    renamed += count_renamed();
    if (HasFailure()) break;
  }
  EXPECT_GT(renamed, kLedgers / 4);
  RecordProperty("renamed", renamed);
}

TEST_F(LedgerCorruption, of_the_schema_is_detected_and_renamed) {
  for (const char* sql :
       {"DROP TABLE output", "DROP TABLE failure", "DROP TABLE suspect", "DROP TABLE request",
        "DROP TABLE root", "DROP TABLE settings", "DROP TABLE version", "DELETE FROM version",
        "DELETE FROM root", "ALTER TABLE output DROP COLUMN bytes",
        "ALTER TABLE failure RENAME COLUMN reason TO because",
        "ALTER TABLE request RENAME COLUMN what TO it",
        "CREATE TRIGGER no BEFORE INSERT ON request BEGIN SELECT raise(ABORT, 'no'); END"}) {
    SCOPED_TRACE(sql);
    put(good_);
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(file().c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(database);
    std::string warnings;
    for (int run = 0; run < 2; ++run) {
      Ledger ledger(file(), {.warn = [&](const std::string& text) { warnings += text; }});
      use(ledger);
    }
    EXPECT_THAT(warnings, HasSubstr("it is now ledger.db.damaged-1"));
    EXPECT_EQ(count_renamed(), 1);
  }
}

/// Of two processes that share a ledger one sets it aside, while the other has it open. The new one
/// has a journal of its own: it keeps what was recorded though both are killed.
TEST_F(LedgerCorruption, is_renamed_with_its_journal_while_another_process_has_it_open) {
  put(good_);
  {
    const OtherProcess first(file(), 0);
    ASSERT_TRUE(fs::exists(file().native() + "-wal"));
    std::fstream(file(), std::ios::in | std::ios::out | std::ios::binary)
        << std::string(good_.size(), 'x');
    const OtherProcess second(file(), 1);
    EXPECT_EQ(count_renamed(), 1);
  }
  Ledger ledger(file());
  EXPECT_FALSE(ledger.find(output(0)));
  EXPECT_TRUE(ledger.find(output(1)));
  EXPECT_EQ(count_renamed(), 1);
}

/// Both have it open. The second to see the damage goes on with what the first has made.
TEST_F(LedgerCorruption, is_renamed_once_by_two_processes) {
  put(good_);
  Ledger first(file()), second(file());
  std::fstream(file(), std::ios::in | std::ios::out | std::ios::binary)
      << std::string(good_.size(), 'x');
  read_all(first);
  first.record({{entry(0)}, {}, {}});
  ASSERT_EQ(count_renamed(), 1);
  EXPECT_NO_THROW(second.check_not_replaced());
  read_all(second);
  EXPECT_EQ(count_renamed(), 1);
  EXPECT_TRUE(second.find(output(0)));
  second.record({{entry(1)}, {}, {}});
  EXPECT_TRUE(first.find(output(1)));
}

TEST_F(LedgerCorruption, is_not_renamed_twice_during_detection) {
  put(good_);
  Ledger first(file()), second(file());
  std::fstream(file(), std::ios::in | std::ios::out | std::ios::binary)
      << std::string(good_.size(), 'x');
  second.remove_outputs([&] {  // within a call of the second
    read_all(first);
    first.record({{entry(0)}, {}, {}});
    return std::vector<std::string>{output(5)};
  });
  EXPECT_EQ(count_renamed(), 1);
  EXPECT_TRUE(second.find(output(0)));
}

/// The second has all that it wants in memory, and never sees the damage.
TEST_F(LedgerCorruption, a_renamed_ledger_gets_no_more_rows) {
  put(good_);
  Ledger first(file()), second(file());
  EXPECT_TRUE(second.find(output(0)));
  fs::rename(file(), file().native() + ".damaged-1");
  for (const char* companion : {"-wal", "-shm"}) fs::remove(file().native() + companion);
  EXPECT_NO_THROW(second.check_not_replaced());
  second.record({{entry(1)}, {}, {}});
  EXPECT_NO_THROW(second.check_not_replaced());
  EXPECT_TRUE(Ledger(file()).find(output(1)));
  EXPECT_FALSE(Ledger(file()).find(output(0)));
  EXPECT_EQ(count_renamed(), 1);
}

}  // namespace
}  // namespace eckart::ledger
