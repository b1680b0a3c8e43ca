#include "io/quarantine.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <string>

#include "core/error.hpp"
#include "io/content_hash.hpp"
#include "io/process_token.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/codec/failure_of.hpp"
#include "tests/unit/io/intercepted_calls.hpp"
#include "tests/unit/io/make_rooted_file.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using SystemClock = std::chrono::system_clock;

class QuarantineTest : public ::testing::Test {
 protected:
  static std::string unique_temporary_of_this_process() {
    return ".eckart-" + process_token() + "-1.tmp";
  }
  ClaimedFile input(const fs::path& name, std::size_t bytes = 1) const {
    const fs::path path = folder_.path() / "in" / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << std::string(bytes, 'x');
    return std::move(*io::claim(make_rooted_file(folder_.path() / "in", name)));
  }
  void add(Quarantine& quarantine, const fs::path& name, std::size_t bytes = 1) const {
    ClaimedFile file = input(name, bytes);
    quarantine.add(file, name, "why");
  }
  fs::path path_of(const fs::path& name) const {
    return folder_.path() / ".eckart/quarantine" / name;
  }
  std::string read_text(const fs::path& name) const {
    std::ifstream file(path_of(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void set_age(const fs::path& name, int days) const {
    fs::last_write_time(path_of(name),
                        fs::file_time_type::clock::now() - std::chrono::hours(24 * days));
  }
  std::size_t record_count() const {
    return quarantine_records(quarantine_folder(folder_.path())).size();
  }

  const test::TempFolder folder_;
};

TEST_F(QuarantineTest, stores_the_file_in_its_tree_with_a_record) {
  Quarantine quarantine(folder_.path(), {});
  add(quarantine, "a/b.png");
  EXPECT_TRUE(fs::exists(path_of("a/b.png")));
  std::ifstream reason(path_of("a/b.png.record.json"));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(reason), {}), "why");
  EXPECT_FALSE(fs::exists(folder_.path() / "in/a/b.png"));
}

TEST_F(QuarantineTest, keeps_several_files_of_one_name) {
  Quarantine quarantine(folder_.path(), {});
  for (int i = 0; i < 3; ++i) add(quarantine, "a.png");
  EXPECT_EQ(record_count(), 3u);
  for (const fs::path& reason : quarantine_records(quarantine_folder(folder_.path())))
    EXPECT_TRUE(fs::exists(file_of_record(reason))) << reason;
}

/// An input has the same path, whatever else is in the quarantine, so that it can be found.
TEST_F(QuarantineTest, keeps_files_and_directories_of_one_name) {
  Quarantine quarantine(folder_.path(), {});
  const auto all_in = [&](std::initializer_list<fs::path> order) {
    for (const fs::path& name : order) {
      fs::remove_all(folder_.path() / "in");
      add(quarantine, name);
    }
    for (const fs::path& name : order) {
      EXPECT_TRUE(quarantine.has_file(name)) << name;
      quarantine.add_kept_record(name, "stays");
      EXPECT_TRUE(quarantine.has_kept_record(name)) << name;
      quarantine.remove_kept_record(name);
    }
    EXPECT_EQ(record_count(), order.size());
    fs::remove_all(quarantine_folder(folder_.path()));
  };
  all_in({"q.png", "q.png/x.png", "q.png/x.png.record.json/y.png", "q.png.d/z.png"});
  all_in({"q.png", "q.png.kept.json/y.png"});
  all_in({"q.png.d/z.png", "q.png/x.png.record.json/y.png", "q.png/x.png", "q.png"});
  add(quarantine, "q.png");
  fs::remove_all(folder_.path() / "in");
  add(quarantine, "q.png/x.png");
  fs::remove(path_of("q.png"));
  EXPECT_TRUE(quarantine.has_file("q.png/x.png")) << "also after the other file was requeued";
}

TEST_F(QuarantineTest, accepts_names_of_any_length) {
  Quarantine quarantine(folder_.path(), {});
  const std::string name = std::string(251, 'x') + ".png";
  add(quarantine, name);
  EXPECT_EQ(record_count(), 1u);
  quarantine.add_kept_record(name, "why");
  EXPECT_TRUE(quarantine.has_kept_record(name));
}

TEST_F(QuarantineTest, distinguishes_long_names_with_the_same_beginning) {
  Quarantine quarantine(folder_.path(), {});
  const std::string begin(250, 'x');
  quarantine.add_kept_record(begin + "1.png", "first");
  quarantine.add_kept_record(begin + "2.png", "second");
  EXPECT_EQ(record_count(), 2u);
  quarantine.remove_kept_record(begin + "1.png");
  EXPECT_FALSE(quarantine.has_kept_record(begin + "1.png"));
  EXPECT_TRUE(quarantine.has_kept_record(begin + "2.png"));
}

TEST_F(QuarantineTest, records_a_file_kept_in_place) {
  Quarantine quarantine(folder_.path(), {});
  EXPECT_FALSE(quarantine.has_kept_record("a.png"));
  quarantine.add_kept_record("a.png", "why");
  EXPECT_TRUE(quarantine.has_kept_record("a.png"));
  EXPECT_FALSE(fs::exists(path_of("a.png")));
  quarantine.remove_kept_record("a.png");
  EXPECT_FALSE(quarantine.has_kept_record("a.png"));
}

/// A file of that name in the quarantine, and its record, belong to another input.
TEST_F(QuarantineTest, keeps_the_record_of_a_kept_file_apart_from_a_file_of_its_name) {
  Quarantine quarantine(folder_.path(), {});
  add(quarantine, "a.png");
  EXPECT_FALSE(quarantine.has_kept_record("a.png"));
  quarantine.add_kept_record("a.png", "stays");
  EXPECT_TRUE(quarantine.has_kept_record("a.png"));
  EXPECT_EQ(read_text("a.png.record.json"), "why");
  EXPECT_EQ(read_text("a.png.kept.json"), "stays");
  EXPECT_EQ(record_count(), 2u);
  quarantine.remove_kept_record("a.png");
  EXPECT_FALSE(quarantine.has_kept_record("a.png"));
  EXPECT_EQ(read_text("a.png.record.json"), "why");
  quarantine.remove_kept_record("a.png");
  EXPECT_EQ(read_text("a.png.record.json"), "why");
}

TEST_F(QuarantineTest, reads_legacy_records) {
  Quarantine quarantine(folder_.path(), {});
  fs::create_directories(path_of(""));
  std::ofstream(path_of("a.png.record.json")) << "older";
  EXPECT_TRUE(quarantine.has_kept_record("a.png"));
  quarantine.add_kept_record("a.png", "stays");
  EXPECT_EQ(record_count(), 1u) << "one record per file";
  quarantine.remove_kept_record("a.png");
  EXPECT_EQ(record_count(), 0u);
  fs::create_directories(path_of(""));
  std::ofstream(path_of("a.png.record.json")) << "older";
  quarantine.remove_kept_record("a.png");
  EXPECT_FALSE(quarantine.has_kept_record("a.png"));
}

TEST_F(QuarantineTest, takes_a_file_whose_record_was_written_before_a_kill) {
  Quarantine quarantine(folder_.path(), {.keeps_inputs = false});
  fs::create_directories(path_of(""));
  std::ofstream(path_of("a.png.record.json")) << "older";
  EXPECT_FALSE(quarantine.has_kept_record("a.png"));
  add(quarantine, "a.png");
  EXPECT_TRUE(fs::exists(path_of("a.png")));
  EXPECT_EQ(read_text("a.png.record.json"), "why");
  EXPECT_EQ(record_count(), 1U);
}

TEST_F(QuarantineTest, does_not_overwrite_the_legacy_record_of_another_file) {
  Quarantine quarantine(folder_.path(), {});
  fs::create_directories(path_of(""));
  std::ofstream(path_of("2-a.png.record.json")) << "older";  // of an input of that name
  for (int i = 0; i < 2; ++i) add(quarantine, "a.png");
  EXPECT_EQ(read_text("2-a.png.record.json"), "older");
  EXPECT_EQ(record_count(), 3u);
}

TEST_F(QuarantineTest, expires_the_record_of_a_kept_file_but_not_another_file_of_its_name) {
  Quarantine quarantine(folder_.path(), {.keep_days = 7, .max_mb = 1});
  add(quarantine, "a.png", 900000);
  add(quarantine, "b.png", 100000);
  quarantine.add_kept_record("a.png", "stays");
  EXPECT_TRUE(quarantine.sweep(SystemClock::now()).empty()) << "no file is counted twice";
  set_age("a.png.kept.json", 8);
  EXPECT_EQ(quarantine.sweep(SystemClock::now()), std::vector{path_of("a.png.kept.json")});
  EXPECT_TRUE(fs::exists(path_of("a.png")) && fs::exists(path_of("a.png.record.json")));
}

/// The path exceeds PATH_MAX, but each component fits.
TEST_F(QuarantineTest, rejects_a_path_that_is_too_long) {
  Quarantine quarantine(folder_.path(), {});
  fs::path relative;
  while (relative.native().size() < 4096) relative /= std::string(199, 'd');
  relative /= "a.png";
  {
    ClaimedFile file = input("a.png");
    EXPECT_EQ(test::failure_of([&] { quarantine.add(file, relative, "why"); }).reason,
              FailureReason::not_written);
  }
  EXPECT_TRUE(fs::exists(folder_.path() / "in/a.png"));
  EXPECT_EQ(test::failure_of([&] { quarantine.add_kept_record(relative, "why"); }).reason,
            FailureReason::not_written);
  EXPECT_FALSE(quarantine.has_file(relative));
  EXPECT_TRUE(quarantine.has_kept_record(relative)) << "otherwise each scan would try it again";
  quarantine.remove_kept_record(relative);
}

TEST_F(QuarantineTest, leaves_no_record_that_was_not_synced) {
  Quarantine quarantine(folder_.path(), {});
  test::on_fsync = [&](int) { return fs::exists(path_of("a.png.kept.json")) ? EIO : 0; };
  EXPECT_THROW(quarantine.add_kept_record("a.png", "why"), EnvironmentError);
  test::on_fsync = {};
  EXPECT_FALSE(quarantine.has_kept_record("a.png"));
}

TEST_F(QuarantineTest, does_not_move_a_file_whose_record_cannot_be_written) {
  Quarantine quarantine(folder_.path(), {});
  fs::create_directories(path_of("a.png.record.json/in the way"));
  EXPECT_THROW(add(quarantine, "a.png"), ItemError);
  EXPECT_TRUE(fs::exists(folder_.path() / "in/a.png"));
  EXPECT_FALSE(fs::exists(path_of("a.png")));
}

TEST_F(QuarantineTest, leaves_no_record_of_a_file_that_cannot_be_moved) {
  Quarantine quarantine(folder_.path(), {});
  {
    ClaimedFile file = input("a.png");
    test::on_rename = [](const char*) { return EACCES; };
    EXPECT_THROW(quarantine.add(file, "a.png", "why"), ItemError);
    test::on_rename = {};
  }
  EXPECT_EQ(record_count(), 0u);
  EXPECT_TRUE(fs::exists(folder_.path() / "in/a.png"));
}

TEST_F(QuarantineTest, syncs_records_and_new_folders_if_durable) {
  for (const bool durable : {true, false}) {
    const fs::path output = folder_.path() / (durable ? "durable" : "fast");
    fs::create_directory(output);
    Quarantine quarantine(output, {.durable = durable});
    bool has_synced_file = false, has_synced_output = false;
    struct stat of_output {};
    ASSERT_EQ(::stat(output.c_str(), &of_output), 0);
    test::on_fsync = [&](int descriptor) {
      struct stat status {};
      EXPECT_EQ(::fstat(descriptor, &status), 0);
      has_synced_file |= S_ISREG(status.st_mode);
      has_synced_output |= status.st_ino == of_output.st_ino;
      return 0;
    };
    quarantine.add_kept_record("a.png", "why");
    test::on_fsync = {};
    EXPECT_EQ(has_synced_file, durable);
    EXPECT_EQ(has_synced_output, durable);
  }
}

TEST_F(QuarantineTest, names_files_by_input_and_number) {
  Quarantine quarantine(folder_.path(), {});
  const auto added = [&](const fs::path& name) {
    ClaimedFile file = input(name);
    return quarantine.add(file, name, "why").lexically_relative(path_of(""));
  };
  EXPECT_EQ(added("a.png"), "a.png");
  EXPECT_EQ(added("a.png"), "2-a.png");
  EXPECT_EQ(added("q.png/x.png"), "q.png.d/x.png");
  EXPECT_FALSE(quarantine.has_file("q.png.d/x.png")) << "a folder of that name is another one";
  const fs::path shortened = added(std::string(245, 'x') + ".tiff");
  EXPECT_EQ(shortened.extension(), ".tiff");
  EXPECT_LE(record_path_of(shortened).native().size(), 240u);
  EXPECT_EQ(file_of_record("d/a.png.kept.json"), "d/a.png");
  EXPECT_EQ(file_of_record("d/a.png.record.json"), "d/a.png");
  const std::size_t records = record_count();
  fs::create_symlink(path_of("a.png.record.json"), path_of("link.record.json"));
  EXPECT_EQ(record_count(), records) << "a link is no record";
}

TEST_F(QuarantineTest, counts_a_file_of_exactly_the_limit) {
  Quarantine quarantine(folder_.path(), {.keep_days = 0, .max_mb = 1});
  QuarantineUsage usage{5, 5};
  EXPECT_TRUE(quarantine.sweep(SystemClock::now(), &usage).empty()) << "there is no folder yet";
  EXPECT_EQ(usage.files + usage.bytes, 0);
  add(quarantine, "deep/a.png", (1 << 20) - std::string("why").size());
  set_age("deep/a.png.record.json", 1);
  EXPECT_TRUE(quarantine.sweep(SystemClock::now(), &usage).empty());
  EXPECT_EQ(usage.bytes, 1 << 20);
  add(quarantine, "b.png", 1);
  EXPECT_THAT(quarantine.sweep(SystemClock::now(), &usage), ElementsAre(path_of("deep/a.png")));
  EXPECT_EQ(usage.files, 1);
  EXPECT_FALSE(fs::exists(path_of("deep"))) << "an empty folder is removed";
}

TEST_F(QuarantineTest, does_not_follow_links_in_its_folders) {
  Quarantine quarantine(folder_.path(), {});
  fs::create_directories(folder_.path() / "elsewhere");
  add(quarantine, "b.png");
  fs::create_directory_symlink(folder_.path() / "elsewhere", path_of("day"));
  EXPECT_THROW(add(quarantine, "day/a.png"), ItemError);
  EXPECT_THROW(quarantine.add_kept_record("day/a.png", "why"), ItemError);
  EXPECT_TRUE(fs::is_empty(folder_.path() / "elsewhere"));
  for (const char* name : {"elsewhere/a.png.record.json", "elsewhere/a.png.kept.json"}) {
    std::ofstream(folder_.path() / name) << "theirs";
    quarantine.remove_kept_record("day/a.png");
    EXPECT_TRUE(fs::exists(folder_.path() / name));
  }
}

TEST_F(QuarantineTest, is_not_followed_if_it_is_a_link) {
  Quarantine quarantine(folder_.path(), {.keep_days = 7, .max_mb = 0});
  add(quarantine, "a.png");
  const fs::path elsewhere = folder_.path() / "elsewhere";
  fs::rename(quarantine_folder(folder_.path()), elsewhere);
  fs::create_directory_symlink(elsewhere, quarantine_folder(folder_.path()));
  EXPECT_TRUE(quarantine.sweep(SystemClock::now() + std::chrono::hours(24 * 8)).empty());
  EXPECT_TRUE(fs::exists(elsewhere / "a.png"));
  EXPECT_THROW(add(quarantine, "b.png"), ItemError);
}

TEST_F(QuarantineTest, is_not_followed_if_the_state_folder_is_a_link) {
  Quarantine quarantine(folder_.path(), {.keep_days = 7, .max_mb = 0});
  add(quarantine, "a.png");
  const fs::path elsewhere = folder_.path() / "elsewhere";
  fs::rename(folder_.path() / ".eckart", elsewhere);
  fs::create_directory_symlink(elsewhere, folder_.path() / ".eckart");
  EXPECT_TRUE(quarantine.sweep(SystemClock::now() + std::chrono::hours(24 * 8)).empty());
  EXPECT_TRUE(fs::exists(elsewhere / "quarantine/a.png"));
  EXPECT_THROW(add(quarantine, "b.png"), std::runtime_error);
  EXPECT_FALSE(fs::exists(elsewhere / "quarantine/b.png"));
}

TEST_F(QuarantineTest, removes_temporary_files_of_killed_processes) {
  Quarantine quarantine(folder_.path(), {.keep_days = 0, .max_mb = 0});
  quarantine.remove_stale_temporaries();  // there is no folder yet
  add(quarantine, "deep/a.png");
  const std::string own = unique_temporary_of_this_process();
  for (const char* folder : {"", "deep"}) {
    std::ofstream(path_of(folder) / ".eckart-0123456789abcdef-1.tmp") << "x";
    std::ofstream(path_of(folder) / own) << "x";
  }
  quarantine.remove_stale_temporaries();
  for (const char* folder : {"", "deep"}) {
    EXPECT_FALSE(fs::exists(path_of(folder) / ".eckart-0123456789abcdef-1.tmp"));
    EXPECT_TRUE(fs::exists(path_of(folder) / own));
  }
  EXPECT_TRUE(fs::exists(path_of("deep/a.png")));
  EXPECT_EQ(record_count(), 1U);
}

TEST_F(QuarantineTest, counts_the_disk_space_of_sparse_files) {
  Quarantine quarantine(folder_.path(), {.keep_days = 0, .max_mb = 2});
  add(quarantine, "a.png", 900000);
  add(quarantine, "sparse.png", 0);
  fs::resize_file(path_of("sparse.png"), 1900000);
  QuarantineUsage usage;
  EXPECT_TRUE(quarantine.sweep(SystemClock::now(), &usage).empty());
  EXPECT_LT(usage.bytes, 1000000);
}

TEST_F(QuarantineTest, removes_files_that_are_too_old) {
  Quarantine quarantine(folder_.path(), {.keep_days = 7, .max_mb = 0});
  add(quarantine, "a.png");
  EXPECT_TRUE(quarantine.sweep(SystemClock::now() + std::chrono::hours(24 * 6)).empty());
  EXPECT_EQ(quarantine.sweep(SystemClock::now() + std::chrono::hours(24 * 8)).size(), 1u);
  EXPECT_EQ(record_count(), 0u);
  EXPECT_FALSE(fs::exists(path_of("a.png")));
}

TEST_F(QuarantineTest, removes_the_oldest_over_the_size_limit) {
  Quarantine quarantine(folder_.path(), {.keep_days = 0, .max_mb = 2});
  for (const char* name : {"c.png", "b.png", "a.png"}) {
    add(quarantine, name, 900000);
    fs::last_write_time(path_of(record_path_of(name)),
                        fs::file_time_type::clock::now() - std::chrono::hours(*name));
  }
  QuarantineUsage usage;
  const auto removed = quarantine.sweep(SystemClock::now(), &usage);
  ASSERT_EQ(removed.size(), 1u);
  EXPECT_EQ(usage.files, 2);
  EXPECT_GE(usage.bytes, 1800000);
  EXPECT_LT(usage.bytes, 1900000);
  EXPECT_EQ(removed[0], path_of("c.png"));
  EXPECT_TRUE(fs::exists(path_of("a.png")) && fs::exists(path_of("b.png")));
}

TEST_F(QuarantineTest, keeps_other_files_beside_one_that_is_too_large) {
  Quarantine quarantine(folder_.path(), {.keep_days = 0, .max_mb = 1});
  add(quarantine, "a.png", 1000);
  add(quarantine, "large.png", 3000000);
  EXPECT_TRUE(quarantine.sweep(SystemClock::now()).empty());
}

TEST_F(QuarantineTest, keeps_one_that_is_too_large_when_others_exceed_the_limit) {
  Quarantine quarantine(folder_.path(), {.keep_days = 0, .max_mb = 1});
  const char* names[] = {"large.png", "a.png", "b.png"};
  for (int i = 0; i < 3; ++i) {
    add(quarantine, names[i], i == 0 ? 3000000 : 900000);
    set_age(record_path_of(names[i]), 3 - i);
  }
  EXPECT_THAT(quarantine.sweep(SystemClock::now()), ElementsAre(path_of("a.png")));
}

TEST_F(QuarantineTest, removes_nothing_without_limits) {
  Quarantine quarantine(folder_.path(), {.keep_days = 0, .max_mb = 0});
  add(quarantine, "a.png", 3000000);
  EXPECT_TRUE(quarantine.sweep(SystemClock::now() + std::chrono::hours(24 * 10000)).empty());
}

TEST(Sha256, matches_fips_180) {
  const test::TempFolder folder;
  const fs::path file = folder.path() / "abc";
  std::ofstream(file) << "abc";
  EXPECT_EQ(content_hash_hex(InputFile(file)),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  const InputFile open(file);
  fs::resize_file(file, 0);
  EXPECT_THROW(content_hash_hex(open), ItemError);
}

}  // namespace
}  // namespace eckart::io
