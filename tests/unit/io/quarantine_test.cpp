#include "io/quarantine.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "core/error.hpp"
#include "io/sha256.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/io/rooted.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::system_clock;

class QuarantineTest : public ::testing::Test {
 protected:
  TakenFile input(const fs::path& name, std::size_t bytes = 1) const {
    const fs::path path = folder_.path() / "in" / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << std::string(bytes, 'x');
    return std::move(*io::take(rooted(folder_.path() / "in", name)));
  }
  void take(Quarantine& quarantine, const fs::path& name, std::size_t bytes = 1) const {
    TakenFile file = input(name, bytes);
    quarantine.take(file, name, "why");
  }
  fs::path place(const fs::path& name) const {
    return folder_.path() / ".eckart/quarantine" / name;
  }
  std::size_t reasons() const { return reason_files(quarantine_folder(folder_.path())).size(); }

  const test::TempFolder folder_;
};

TEST_F(QuarantineTest, has_the_file_in_its_tree_and_the_reason_beside_it) {
  Quarantine quarantine(folder_.path(), {});
  take(quarantine, "a/b.png");
  EXPECT_TRUE(fs::exists(place("a/b.png")));
  std::ifstream reason(place("a/b.png.reason.json"));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(reason), {}), "why");
  EXPECT_FALSE(fs::exists(folder_.path() / "in/a/b.png"));
}

TEST_F(QuarantineTest, keeps_each_of_several_files_of_one_name) {
  Quarantine quarantine(folder_.path(), {});
  for (int i = 0; i < 3; ++i) take(quarantine, "a.png");
  EXPECT_EQ(reasons(), 3u);
  for (const fs::path& reason : reason_files(quarantine_folder(folder_.path())))
    EXPECT_TRUE(fs::exists(file_of_reason(reason))) << reason;
}

/// Each has one place, whatever else is there, so that it is found there, too.
TEST_F(QuarantineTest, has_files_and_directories_of_one_name) {
  Quarantine quarantine(folder_.path(), {});
  const auto all_in = [&](std::initializer_list<fs::path> order) {
    for (const fs::path& name : order) {
      fs::remove_all(folder_.path() / "in");
      take(quarantine, name);
    }
    for (const fs::path& name : order) {
      EXPECT_TRUE(quarantine.has_file(name)) << name;
      EXPECT_TRUE(quarantine.has_note(name)) << name;
    }
    EXPECT_EQ(reasons(), order.size());
    fs::remove_all(quarantine_folder(folder_.path()));
  };
  all_in({"q.png", "q.png/x.png", "q.png/x.png.reason.json/y.png", "q.png.d/z.png"});
  all_in({"q.png.d/z.png", "q.png/x.png.reason.json/y.png", "q.png/x.png", "q.png"});
  take(quarantine, "q.png");
  fs::remove_all(folder_.path() / "in");
  take(quarantine, "q.png/x.png");
  fs::remove(place("q.png"));
  EXPECT_TRUE(quarantine.has_file("q.png/x.png")) << "though what was in its way is requeued";
}

TEST_F(QuarantineTest, takes_names_of_any_length) {
  Quarantine quarantine(folder_.path(), {});
  const std::string name = std::string(251, 'x') + ".png";
  take(quarantine, name);
  EXPECT_EQ(reasons(), 1u);
  quarantine.note(name, "why");
  EXPECT_TRUE(quarantine.has_note(name));
}

TEST_F(QuarantineTest, notes_what_stays_where_it_is) {
  Quarantine quarantine(folder_.path(), {});
  EXPECT_FALSE(quarantine.has_note("a.png"));
  quarantine.note("a.png", "why");
  EXPECT_TRUE(quarantine.has_note("a.png"));
  EXPECT_FALSE(fs::exists(place("a.png")));
  quarantine.remove_note("a.png");
  EXPECT_FALSE(quarantine.has_note("a.png"));
}

TEST_F(QuarantineTest, takes_no_file_whose_reason_cannot_be_written) {
  Quarantine quarantine(folder_.path(), {});
  fs::create_directories(place("a.png.reason.json/in the way"));
  EXPECT_THROW(take(quarantine, "a.png"), ItemError);
  EXPECT_TRUE(fs::exists(folder_.path() / "in/a.png"));
  EXPECT_FALSE(fs::exists(place("a.png")));
}

TEST_F(QuarantineTest, follows_no_link_in_its_folders) {
  Quarantine quarantine(folder_.path(), {});
  fs::create_directories(folder_.path() / "elsewhere");
  take(quarantine, "b.png");
  fs::create_directory_symlink(folder_.path() / "elsewhere", place("day"));
  EXPECT_THROW(take(quarantine, "day/a.png"), ItemError);
  EXPECT_THROW(quarantine.note("day/a.png", "why"), ItemError);
  EXPECT_TRUE(fs::is_empty(folder_.path() / "elsewhere"));
  std::ofstream(folder_.path() / "elsewhere/a.png.reason.json") << "theirs";
  quarantine.remove_note("day/a.png");
  EXPECT_TRUE(fs::exists(folder_.path() / "elsewhere/a.png.reason.json"));
}

TEST_F(QuarantineTest, loses_what_is_too_old) {
  Quarantine quarantine(folder_.path(), {.keep_days = 7, .max_mb = 0});
  take(quarantine, "a.png");
  EXPECT_TRUE(quarantine.sweep(Clock::now() + std::chrono::hours(24 * 6)).empty());
  EXPECT_EQ(quarantine.sweep(Clock::now() + std::chrono::hours(24 * 8)).size(), 1u);
  EXPECT_EQ(reasons(), 0u);
  EXPECT_FALSE(fs::exists(place("a.png")));
}

TEST_F(QuarantineTest, loses_the_oldest_where_all_are_too_large) {
  Quarantine quarantine(folder_.path(), {.keep_days = 0, .max_mb = 2});
  for (const char* name : {"c.png", "b.png", "a.png"}) {
    take(quarantine, name, 900000);
    fs::last_write_time(place(reason_file_of(name)),
                        fs::file_time_type::clock::now() - std::chrono::hours(*name));
  }
  const auto removed = quarantine.sweep(Clock::now());
  ASSERT_EQ(removed.size(), 1u);
  EXPECT_EQ(removed[0], place("c.png"));
  EXPECT_TRUE(fs::exists(place("a.png")) && fs::exists(place("b.png")));
}

TEST_F(QuarantineTest, what_is_too_large_alone_drives_out_no_other) {
  Quarantine quarantine(folder_.path(), {.keep_days = 0, .max_mb = 1});
  take(quarantine, "a.png", 1000);
  take(quarantine, "large.png", 3000000);
  EXPECT_TRUE(quarantine.sweep(Clock::now()).empty());
}

TEST_F(QuarantineTest, without_limits_loses_nothing) {
  Quarantine quarantine(folder_.path(), {.keep_days = 0, .max_mb = 0});
  take(quarantine, "a.png", 3000000);
  EXPECT_TRUE(quarantine.sweep(Clock::now() + std::chrono::hours(24 * 10000)).empty());
}

TEST(Sha256, is_that_of_fips_180) {
  const test::TempFolder folder;
  const fs::path file = folder.path() / "abc";
  std::ofstream(file) << "abc";
  EXPECT_EQ(sha256_of(InputFile(file)),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  const InputFile open(file);
  fs::resize_file(file, 0);
  EXPECT_THROW(sha256_of(open), ItemError);
}

}  // namespace
}  // namespace eckart::io
