// Ledgers that are damaged at random. Each is used as `eckart run` and `eckart status` use_as_run
// it. It must work or be renamed.
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <random>
#include <utility>

#include "core/error.hpp"
#include "ledger/database.hpp"
#include "ledger/ledger.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/temp_folder.hpp"

namespace {

/// Called with the path of each file that SQLite opens, before it does.
std::function<void(const std::string& path)> before_open;
/// Called before the next rename(2).
std::function<void()> before_rename;

/// If true, readdir(3) fails at the end of a folder.
bool should_fail_readdir = false;

}  // namespace

extern "C" dirent* readdir(DIR* folder) {
  static const auto real = reinterpret_cast<dirent* (*)(DIR*)>(::dlsym(RTLD_NEXT, "readdir"));
  dirent* const entry = real(folder);
  if (!entry && should_fail_readdir) errno = EIO;
  return entry;
}
extern "C" int open64(const char* path, int flags, ...) {
  mode_t mode = 0;
  if ((flags & O_CREAT) != 0) {
    va_list arguments;
    va_start(arguments, flags);
    mode = va_arg(arguments, mode_t);
    va_end(arguments);
  }
  if (before_open) before_open(path);
  return int(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}
extern "C" int rename(const char* from, const char* to) {
  if (before_rename) std::exchange(before_rename, nullptr)();
  return int(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

namespace eckart::ledger {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr int kRows = 300;
constexpr int kFailures = 40;

std::string output_name(int number) { return "deep/" + std::to_string(number) + ".png"; }

OutputEntry make_entry(int number) {
  return {.output = output_name(number),
          .input = "/in/" + output_name(number),
          .settings = settings_hash("png, rank 2"),
          .state = {1000 + number, 1700000000123456789, number},
          .bytes = 10 + number,
          .root_length = 4,
          .content_hash = std::string(32, char(number)),
          .report = R"({"psnr_db":30.5,"text":")" + std::string(200, 'r') + R"("})"};
}

const RequestEntry kRequest{"rank: 2", {"/in"}, "", {"png, rank 2"}};

void fill(Ledger& ledger) {
  ledger.record_request(kRequest);
  LedgerChanges changes;
  for (int i = 0; i < kRows; ++i) changes.done.push_back(make_entry(i));
  for (int i = 0; i < kFailures; ++i)
    changes.failed.push_back(
        {"/in/bad" + std::to_string(i), {1, 2, 3}, FailureReason::corrupt, "why"});
  ledger.record(changes);
  ledger.record_suspects(std::vector<Suspect>{{"/in/lost.png", {4, 5, 6}, 1}});
}

/// Calls every function that reads.
void read_all(Ledger& ledger) {
  for (int i = 0; i < kRows; ++i) ledger.find(output_name(i));
  for (int i = 0; i < kRows; ++i) ledger.find_intent({output_name(i), 1, 2});
  for (int i = 0; i < kFailures; ++i) ledger.find_failure("/in/bad" + std::to_string(i));
  ledger.count_inputs();
  ledger.count_by_settings();
  ledger.settings_text(settings_hash("png, rank 2"));
  ledger.failures(1000);
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

/// Does what a run does, and adds a row.
void use_as_run(Ledger& ledger) {
  ledger.record_request(kRequest);
  read_all(ledger);
  LedgerChanges changes;
  for (int i = 0; i <= kRows; i += 3) changes.done.push_back(make_entry(i));
  changes.failed.push_back({"/in/bad1", {1, 2, 3}, FailureReason::corrupt, "again"});
  changes.cleared = {"/in/bad2", "/in/lost.png"};
  changes.outputs_without_input = {output_name(4)};
  ledger.record(changes);
  ledger.remove_outputs([] { return std::vector<std::string>{output_name(5)}; });
  ledger.clear_suspects();
  EXPECT_TRUE(ledger.find(output_name(kRows)));
}

/// Another process that has the ledger open until it is killed. It first records `row`, if given.
class OtherProcess {
 public:
  explicit OtherProcess(const fs::path& file, std::optional<int> row = std::nullopt) {
    std::array<int, 2> ready{};
    EXPECT_EQ(::pipe2(ready.data(), O_CLOEXEC), 0);
    process_ = ::fork();
    if (process_ == 0) run_process(file, row, ready[1]);
    ::close(ready[1]);
    char none = 0;
    EXPECT_EQ(::read(ready[0], &none, 1), 0);  // returns when the process has closed its end
    ::close(ready[0]);
  }
  OtherProcess(const OtherProcess&) = delete;
  OtherProcess& operator=(const OtherProcess&) = delete;
  ~OtherProcess() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  /// Whether the process has mapped the file with this inode to memory.
  bool has_mapped(ino_t inode) const {
    std::ifstream maps("/proc/" + std::to_string(process_) + "/maps");
    for (std::string line; std::getline(maps, line);)
      if (line.find(' ' + std::to_string(inode) + ' ') != line.npos) return true;
    return false;
  }

 private:
  [[noreturn]] static void run_process(const fs::path& file, std::optional<int> row,
                                       int ready) noexcept {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    Ledger ledger(file);
    if (row) ledger.record({{make_entry(*row)}, {}, {}});
    ::close(ready);
    for (;;) ::pause();
  }

  pid_t process_ = 0;
};

class CorruptLedgerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    {
      Ledger ledger(file());
      fill(ledger);
    }
    std::ifstream stream(file(), std::ios::binary);
    intact_bytes_.assign(std::istreambuf_iterator<char>(stream), {});
    ASSERT_GT(intact_bytes_.size(), 20 * kPage);
  }
  fs::path file() const { return folder_.path() / "out" / ".eckart" / "ledger.db"; }

  /// Replaces the ledger and its journals by a file with these bytes.
  void write_ledger(const std::string& bytes) const {
    fs::remove_all(file().parent_path());
    fs::create_directories(file().parent_path());
    std::ofstream(file(), std::ios::binary) << bytes;
  }

  std::string damaged_bytes(std::mt19937& random) const {
    const auto below = [&](std::size_t limit) { return std::size_t(random() % limit); };
    std::string bytes = intact_bytes_;
    const std::size_t pages = bytes.size() / kPage, page = below(pages) * kPage;
    switch (below(7)) {
      case 0:  // random bits
        for (std::size_t i = 0; i < 1 + below(64); ++i)
          bytes[below(bytes.size())] ^= char(1 << below(8));
        break;
      case 1:  // bytes of the header and the schema
        for (std::size_t i = 0; i < 1 + below(3); ++i) bytes[below(kPage)] = char(random());
        break;
      case 2:  // letters in the schema
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
      default:  // two pages are swapped
        std::swap_ranges(bytes.begin() + std::ptrdiff_t(page),
                         bytes.begin() + std::ptrdiff_t(page + kPage),
                         bytes.begin() + std::ptrdiff_t(below(pages) * kPage));
    }
    return bytes;
  }

  /// Overwrites the first page of a table.
  void damage_table(const std::string& table) const {
    Database database(file(), OpenMode::read_only, {});
    const Statement select = database.prepare("SELECT rootpage FROM sqlite_master WHERE name = ?1");
    Statement::Execution row(select);
    ASSERT_TRUE(row.bind_text(1, table).step());
    std::fstream(file(), std::ios::in | std::ios::out | std::ios::binary)
            .seekp(std::streamoff(kPage) * (row.integer(0) - 1))
        << std::string(kPage, 'x');
  }

  /// Number of ledgers that were renamed as damaged.
  int count_renamed() const {
    int count = 0;
    for (const auto& found : fs::directory_iterator(file().parent_path()))
      count += found.path().filename().native().starts_with("ledger.db.damaged-");
    return count;
  }

  static constexpr std::size_t kPage = 4096;
  std::string intact_bytes_;

 private:
  const test::TempFolder folder_;
};

TEST_F(CorruptLedgerTest, does_not_stop_a_run_if_corrupt_at_random_positions) {
  constexpr int kLedgers = test::kIsSanitized ? 60 : 300;  // a sanitizer takes 45 s for all
  int renamed = 0;
  for (int seed = 0; seed < kLedgers; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(static_cast<unsigned>(seed));
    write_ledger(damaged_bytes(random));
    const auto expect_no_error = [&](const char* what, const auto& work) {
      try {
        work();
      } catch (const std::exception& error) {
        ADD_FAILURE() << what << ": " << error.what();
      } catch (...) {
        ADD_FAILURE() << what << ": another error";
      }
    };
    expect_no_error("status", [&] {
      try {
        if (const auto ledger = Ledger::open_read_only(file())) read_all(*ledger);
      } catch (const FatalError& error) {
        EXPECT_EQ(error.code(), ExitCode::nothing_readable);
        EXPECT_THAT(error.what(), HasSubstr("The next run renames it"));
      }
    });
    for (int run = 0; run < 2; ++run) {
      expect_no_error("run", [&] {
        Ledger ledger(file());
        use_as_run(ledger);
      });
    }
    EXPECT_LE(count_renamed(), 1);
    renamed += count_renamed();
    if (HasFailure()) break;
  }
  EXPECT_GT(renamed, kLedgers / 4);
  RecordProperty("renamed", renamed);
}

TEST_F(CorruptLedgerTest, is_detected_and_renamed_if_its_schema_is_corrupt) {
  for (const char* sql :
       {"DROP TABLE output", "DROP TABLE failure", "DROP TABLE suspect", "DROP TABLE request",
        "DROP TABLE root", "DROP TABLE settings", "DROP TABLE publish_intent",
        "DROP TABLE intent_group", "DROP TABLE report_keys", "DELETE FROM report_keys",
        "UPDATE output SET report = '1'", "DROP TABLE version", "DELETE FROM version",
        "DELETE FROM root", "ALTER TABLE output DROP COLUMN bytes",
        "ALTER TABLE failure RENAME COLUMN reason TO because",
        "ALTER TABLE request RENAME COLUMN what TO it",
        "CREATE TRIGGER no BEFORE INSERT ON request BEGIN SELECT raise(ABORT, 'no'); END"}) {
    SCOPED_TRACE(sql);
    write_ledger(intact_bytes_);
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(file().c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(database);
    std::string warnings;
    for (int run = 0; run < 2; ++run) {
      Ledger ledger(file(), {.warn = [&](const std::string& text) { warnings += text; }});
      use_as_run(ledger);
    }
    EXPECT_THAT(warnings, HasSubstr("renamed to ledger.db.damaged-1"));
    EXPECT_EQ(count_renamed(), 1);
  }
}

/// One of two processes renames the ledger while the other has it open. The new ledger has its own
/// journal: it keeps its rows although both processes are killed.
TEST_F(CorruptLedgerTest, is_renamed_with_its_journal_while_another_process_has_it_open) {
  write_ledger(intact_bytes_);
  {
    const OtherProcess first(file(), 0);
    ASSERT_TRUE(fs::exists(file().native() + "-wal"));
    std::fstream(file(), std::ios::in | std::ios::out | std::ios::binary)
        << std::string(intact_bytes_.size(), 'x');
    const OtherProcess second(file(), 1);
    EXPECT_EQ(count_renamed(), 1);
  }
  Ledger ledger(file());
  EXPECT_FALSE(ledger.find(output_name(0)));
  EXPECT_TRUE(ledger.find(output_name(1)));
  EXPECT_EQ(count_renamed(), 1);
}

/// Another process opens the damaged file just before it is renamed, and keeps it open.
TEST_F(CorruptLedgerTest, is_renamed_while_another_process_opens_it) {
  write_ledger(intact_bytes_);
  std::optional<OtherProcess> other;
  {
    Ledger ledger(file());
    damage_table("failure");
    before_rename = [&] { other.emplace(file()); };
    EXPECT_EQ(ledger.count_inputs().failed, 0);
    EXPECT_EQ(count_renamed(), 1);
    ASSERT_TRUE(other);
    struct stat shared {};
    ASSERT_EQ(::stat((file().native() + "-shm").c_str(), &shared), 0);
    EXPECT_FALSE(other->has_mapped(shared.st_ino));
    for (int i = 0; i < kRows; ++i) ledger.record({{make_entry(i)}, {}, {}});
  }
  other.reset();
  Ledger ledger(file());
  for (int i = 0; i < kRows; ++i) EXPECT_TRUE(ledger.find(output_name(i)));
  EXPECT_EQ(count_renamed(), 1);
}

/// SQLite opens the shared memory by name, after the file. Here it is that of the new ledger.
TEST_F(CorruptLedgerTest, is_not_opened_when_it_is_renamed_meanwhile) {
  for (const bool read_only : {false, true}) {
    SCOPED_TRACE(read_only);
    write_ledger(intact_bytes_);
    const fs::path fresh = file().native() + ".new";
    { Ledger(fresh).record({{make_entry(kRows)}, {}, {}}); }
    bool renamed = false;
    before_open = [&](const std::string& path) {
      if (renamed || path != file().native() + "-shm") return;
      renamed = true;
      fs::rename(file(), file().native() + ".damaged-1");
      for (const char* suffix : {"-wal", "-shm"}) fs::remove(file().native() + suffix);
      fs::rename(fresh, file());
    };
    if (read_only) {
      const auto ledger = Ledger::open_read_only(file());
      before_open = nullptr;
      ASSERT_TRUE(ledger);
      EXPECT_TRUE(ledger->find(output_name(kRows)));
    } else {
      Ledger ledger(file());
      before_open = nullptr;
      EXPECT_TRUE(ledger.find(output_name(kRows)));
      ledger.record({{make_entry(kRows + 1)}, {}, {}});
      EXPECT_TRUE(Ledger(file()).find(output_name(kRows + 1)));
    }
    EXPECT_TRUE(renamed);
  }
}

/// The process was killed between renaming the file and removing its journals.
TEST_F(CorruptLedgerTest, does_not_share_its_journals_with_a_new_ledger) {
  write_ledger(intact_bytes_);
  const OtherProcess other(file());
  struct stat old {};
  ASSERT_EQ(::stat((file().native() + "-shm").c_str(), &old), 0);
  fs::rename(file(), file().native() + ".damaged-1");
  Ledger ledger(file());
  struct stat shared {};
  ASSERT_EQ(::stat((file().native() + "-shm").c_str(), &shared), 0);
  EXPECT_NE(shared.st_ino, old.st_ino);
}

/// Journals are removed only beside a missing ledger, as SQLite itself does.
TEST_F(CorruptLedgerTest, is_not_assumed_for_other_files_whose_siblings_are_kept) {
  const fs::path folder = file().parent_path();
  const auto write_siblings = [&](const std::string& name) {
    for (const char* suffix : {"-wal", "-shm", "-journal"})
      std::ofstream(folder / (name + suffix)) << "mine";
  };
  const auto expect_siblings = [&](const std::string& name) {
    for (const char* suffix : {"-wal", "-shm", "-journal"})
      EXPECT_EQ(fs::file_size(folder / (name + suffix)), 4u) << name << suffix;
  };
  fs::create_directory(folder / "photos");
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  fs::create_directory(folder / "fast");
  fs::create_symlink("fast/ledger.db", folder / "link");
  for (const char* name : {"photos", "fifo", "link"}) write_siblings(name);
  for (const char* name : {"photos", "fifo"}) {
    EXPECT_THROW(Ledger(folder / name), FatalError) << name;
    expect_siblings(name);
  }
  const Ledger through_link(folder / "link");
  expect_siblings("link");
  EXPECT_TRUE(fs::is_regular_file(folder / "fast/ledger.db"));
}

/// The link is broken at first.
TEST_F(CorruptLedgerTest, is_renamed_at_the_end_of_its_links) {
  const fs::path link = file().parent_path() / "link", target = file().parent_path() / "x.db";
  fs::create_symlink("x.db", link);
  { fill(*std::make_unique<Ledger>(link)); }
  std::fstream damaged(target, std::ios::in | std::ios::out | std::ios::binary);
  damaged.seekp(100) << std::string(4000, 'x');  // after the header
  damaged.close();
  Ledger other(link);
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_TRUE(fs::is_regular_file(target));
  EXPECT_TRUE(fs::exists(target.native() + ".damaged-1"));
}

/// Both processes have it open. The second to find the damage uses the ledger that the first
/// created.
TEST_F(CorruptLedgerTest, is_renamed_once_by_two_processes) {
  write_ledger(intact_bytes_);
  Ledger first(file()), second(file());
  std::fstream(file(), std::ios::in | std::ios::out | std::ios::binary)
      << std::string(intact_bytes_.size(), 'x');
  read_all(first);
  first.record({{make_entry(0)}, {}, {}});
  ASSERT_EQ(count_renamed(), 1);
  EXPECT_NO_THROW(second.check_not_replaced());
  read_all(second);
  EXPECT_EQ(count_renamed(), 1);
  EXPECT_TRUE(second.find(output_name(0)));
  second.record({{make_entry(1)}, {}, {}});
  EXPECT_TRUE(first.find(output_name(1)));
}

/// The run that began last renames the ledger.
TEST_F(CorruptLedgerTest, keeps_the_settings_of_all_runs_that_share_it) {
  write_ledger(intact_bytes_);
  const std::string first_text = "png, rank 3", second_text = "png, rank 4";
  Ledger first(file()), second(file());
  first.record_request({"", {"/in"}, "", {first_text}});
  second.record_request({"", {"/in"}, "", {second_text}});
  std::fstream(file(), std::ios::in | std::ios::out | std::ios::binary)
      << std::string(intact_bytes_.size(), 'x');
  read_all(second);
  ASSERT_EQ(count_renamed(), 1);
  read_all(first);
  EXPECT_EQ(second.settings_text(settings_hash(first_text)), first_text);
  EXPECT_EQ(second.settings_text(settings_hash(second_text)), second_text);
  EXPECT_EQ(first.run(), second.run() - 1);
}

/// The run continues after the loss of a GPU. Another run has begun meanwhile.
TEST_F(CorruptLedgerTest, is_replaced_with_the_request_of_the_continued_run) {
  write_ledger(intact_bytes_);
  const RequestEntry own{"rank: 3", {"/in"}, "", {"png, rank 3"}};
  std::int64_t run = 0;
  {
    Ledger before(file());
    before.record_request(own);
    run = before.run();
  }
  Ledger(file()).record_request({"rank: 4", {"/other"}, "", {"png, rank 4"}});
  Ledger ledger(file());
  ledger.continue_run(own, run);
  std::fstream(file(), std::ios::in | std::ios::out | std::ios::binary)
      << std::string(intact_bytes_.size(), 'x');
  read_all(ledger);
  ASSERT_EQ(count_renamed(), 1);
  EXPECT_EQ(ledger.request()->settings, "rank: 3");
  EXPECT_EQ(ledger.settings_text(settings_hash("png, rank 3")), "png, rank 3");
  EXPECT_EQ(ledger.run(), run);
  EXPECT_EQ(Ledger(file()).run(), run);
}

/// The ledger in which the run began was damaged, and this process has never opened it.
TEST_F(CorruptLedgerTest, is_replaced_with_the_number_of_the_continued_run) {
  const RequestEntry own{"rank: 3", {"/in"}, "", {"png, rank 3"}};
  write_ledger(std::string(intact_bytes_.size(), 'x'));
  Ledger ledger(file());
  ledger.continue_run(own, 7);
  EXPECT_EQ(ledger.run(), 7);
  EXPECT_EQ(ledger.request()->settings, "rank: 3");
  EXPECT_EQ(Ledger(file()).run(), 7);
}

TEST_F(CorruptLedgerTest, is_not_renamed_twice_during_detection) {
  write_ledger(intact_bytes_);
  Ledger first(file()), second(file());
  std::fstream(file(), std::ios::in | std::ios::out | std::ios::binary)
      << std::string(intact_bytes_.size(), 'x');
  second.remove_outputs([&] {  // during a call of the second
    read_all(first);
    first.record({{make_entry(0)}, {}, {}});
    return std::vector<std::string>{output_name(5)};
  });
  EXPECT_EQ(count_renamed(), 1);
  EXPECT_TRUE(second.find(output_name(0)));
}

/// The second has all pages that it reads in memory, and never sees the damage.
TEST_F(CorruptLedgerTest, gets_no_more_rows_after_it_is_renamed) {
  write_ledger(intact_bytes_);
  Ledger first(file()), second(file());
  EXPECT_TRUE(second.find(output_name(0)));
  fs::rename(file(), file().native() + ".damaged-1");
  for (const char* companion : {"-wal", "-shm"}) fs::remove(file().native() + companion);
  EXPECT_NO_THROW(second.check_not_replaced());
  second.record({{make_entry(1)}, {}, {}});
  EXPECT_NO_THROW(second.check_not_replaced());
  EXPECT_TRUE(Ledger(file()).find(output_name(1)));
  EXPECT_FALSE(Ledger(file()).find(output_name(0)));
  EXPECT_EQ(count_renamed(), 1);
}

TEST_F(CorruptLedgerTest, is_an_environment_error_if_removed_from_an_unreadable_folder) {
  write_ledger(intact_bytes_);
  Ledger ledger(file());
  ASSERT_TRUE(fs::exists(file().native() + "-shm"));
  fs::remove(file());
  should_fail_readdir = true;
  EXPECT_THROW(ledger.check_not_replaced(), EnvironmentError);
  should_fail_readdir = false;
}

}  // namespace
}  // namespace eckart::ledger
