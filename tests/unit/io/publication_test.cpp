#include "io/publication.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

#include "files/file_state.hpp"
#include "io/file_comparison.hpp"
#include "io/read_file.hpp"
#include "io/unnamed_file.hpp"
#include "tests/support/max_file_size.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/codec/failure_of.hpp"
#include "tests/unit/io/intercepted_calls.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;
using test::TempFolder;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

std::vector<std::byte> bytes(std::size_t size) {
  return std::vector<std::byte>(size, std::byte(7));
}

/// Returns the names of all files below the folder, including hidden files.
std::vector<std::string> files(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_directory()) names.push_back(fs::relative(entry.path(), folder));
  }
  return names;
}

void expect_no_failure(std::size_t index, const ItemError& error) {
  ADD_FAILURE() << index << ": " << error.what();
}

/// With and without durability, and with files that have a name at once and late.
class PublicationTest : public ::testing::TestWithParam<std::tuple<bool, TemporaryName>> {
 protected:
  void add(Publication& publication, const fs::path& path, std::size_t size) const {
    publication.add(path, bytes(size), {}, std::get<TemporaryName>(GetParam()));
  }
  const TempFolder folder_;
  const fs::path& root_ = folder_.path();
  const bool durable_ = std::get<bool>(GetParam());
};

/// A system may write less than it is asked for, or nothing before a signal.
TEST_P(PublicationTest, writes_all_parts_of_a_file) {
  const std::vector<std::byte> head{std::byte(1), std::byte(2), std::byte(3)}, tail{std::byte(4)};
  for (const std::optional<std::size_t> most : {std::optional<std::size_t>(), {1}, {2}, {5}, {8}}) {
    for (const std::vector<std::byte>& middle : {bytes(0), bytes(5)}) {
      Publication publication;
      test::max_written = most;
      test::interrupted_writes = 2;
      const std::span<const std::byte> parts[] = {head, middle, tail};
      publication.add(root_ / "a", parts, {}, std::get<TemporaryName>(GetParam()));
      test::max_written.reset();
      EXPECT_EQ(test::interrupted_writes, 0);
      Publication* const group[] = {&publication};
      publish(group, {.durable = durable_}, expect_no_failure);
      std::vector<std::byte> expected = head;
      expected.insert(expected.end(), middle.begin(), middle.end());
      expected.insert(expected.end(), tail.begin(), tail.end());
      EXPECT_EQ(read_file(root_ / "a", 1), expected) << most.value_or(0);
    }
  }
}

TEST_P(PublicationTest, shows_nothing_before_it_is_published_and_everything_after) {
  Publication first, second;
  add(first, root_ / "new" / "a", 10);
  add(first, root_ / "b", 20);
  add(second, root_ / "new" / "c", 30);
  for (const std::string& name : files(root_)) EXPECT_THAT(name, HasSubstr(".eckart-"));
  EXPECT_FALSE(first.is_published());
  Publication* const group[] = {&first, &second};
  publish(group, {.durable = durable_}, expect_no_failure);
  EXPECT_THAT(files(root_), UnorderedElementsAre("new/a", "b", "new/c"));
  EXPECT_EQ(read_file(root_ / "new" / "c", 1).size(), 30u);
  EXPECT_TRUE(first.is_published());
  EXPECT_TRUE(second.is_published());
}

TEST(Publication, gives_files_the_mtime_that_is_asked_for) {
  const TempFolder folder;
  for (const std::int64_t mtime_ns :
       {std::int64_t(1600000000123456789), std::int64_t(0), std::int64_t(-1)}) {
    Publication one;
    EXPECT_EQ(one.add(folder.path() / "a", bytes(1), mtime_ns), mtime_ns);
    Publication* const group[] = {&one};
    publish(group, {}, expect_no_failure);
    struct stat status {};
    ASSERT_EQ(::stat((folder.path() / "a").c_str(), &status), 0);
    EXPECT_EQ(files::in_ns(status.st_mtim), mtime_ns);
  }
}

/// Otherwise it may be taken for an output.
TEST(Publication, gives_files_another_mtime_than_a_file_written_just_before) {
  const TempFolder folder;
  const fs::path other = folder.path() / "other";
  for (int i = 0; i < 20; ++i) {
    std::ofstream(other) << i;
    Publication one;
    const std::int64_t mtime_ns = one.add(folder.path() / "a", bytes(1));
    struct stat status {};
    ASSERT_EQ(::stat(other.c_str(), &status), 0);
    EXPECT_NE(mtime_ns, files::in_ns(status.st_mtim));
  }
}

/// A folder may be removed while its path is in the cache of synced folders.
TEST(Publication, syncs_the_parent_of_a_folder_that_was_removed_and_made_again) {
  const TempFolder folder;
  const fs::path leaf = folder.path() / "a" / "b";
  const auto publish_there = [&](const std::string& name) {
    Publication one;
    one.add(leaf / name, bytes(10));
    Publication* const group[] = {&one};
    publish(group, {.durable = true}, expect_no_failure);
  };
  const auto inode = [](const fs::path& path) {
    struct stat status {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
    return status.st_ino;
  };
  publish_there("1");
  fs::remove_all(folder.path() / "a");
  std::vector<ino_t> synced;
  test::on_fsync = [&](int descriptor) {
    struct stat status {};
    if (::fstat(descriptor, &status) == 0) synced.push_back(status.st_ino);
    return 0;
  };
  publish_there("2");
  EXPECT_THAT(synced,
              IsSupersetOf({inode(leaf), inode(folder.path() / "a"), inode(folder.path())}));
  synced.clear();
  publish_there("3");
  test::on_fsync = {};
  EXPECT_THAT(synced, Not(Contains(inode(folder.path())))) << "the ancestors were synced before";
}

TEST_P(PublicationTest, leaves_nothing_if_not_published) {
  {
    Publication publication;
    add(publication, root_ / "a", 10);
    publication.clear();
    EXPECT_EQ(files(root_).size(), 0u);
    add(publication, root_ / "b", 10);
  }
  EXPECT_EQ(files(root_).size(), 0u);
}

TEST_P(PublicationTest, publishes_the_others_when_one_fails) {
  fs::create_directory(root_ / "b");
  Publication a, b, c;
  add(a, root_ / "a", 10);
  add(b, root_ / "b", 10);
  add(c, root_ / "c", 10);
  Publication* const group[] = {&a, &b, &c};
  std::vector<std::size_t> failed;
  publish(group, {.durable = durable_}, [&](std::size_t index, const ItemError& error) {
    failed.push_back(index);
    EXPECT_EQ(error.reason(), FailureReason::output_collision);
    EXPECT_THAT(error.what(), HasSubstr((root_ / "b").native() + ": Is a directory"));
  });
  EXPECT_EQ(failed, std::vector<std::size_t>{1});
  EXPECT_THAT(files(root_), UnorderedElementsAre("a", "c"));
  for (const Publication* each : group)
    EXPECT_TRUE(each->is_published()) << "it must not be tried again";
}

TEST_P(PublicationTest, is_a_collision_if_a_file_is_in_place_of_its_folder) {
  publish_file(root_ / "file", bytes(1));
  Publication publication;
  const test::CaughtError failure =
      test::failure_of([&] { add(publication, root_ / "file" / "below", 10); });
  EXPECT_EQ(failure.reason, FailureReason::output_collision);
  EXPECT_THAT(failure.detail, HasSubstr((root_ / "file" / "below").native() + ": Not a directory"));
  EXPECT_THAT(files(root_), UnorderedElementsAre("file"));
  EXPECT_EQ(fs::file_size(root_ / "file"), 1u);
}

TEST_P(PublicationTest, is_not_written_and_no_collision_if_the_system_rejects_its_name) {
  const std::string name(300, 'x');
  Publication publication;
  add(publication, root_ / name, 10);
  Publication* const group[] = {&publication};
  std::size_t failures = 0;
  publish(group, {.durable = durable_}, [&](std::size_t, const ItemError& error) {
    ++failures;
    EXPECT_EQ(error.reason(), FailureReason::not_written);
    EXPECT_THAT(error.what(), HasSubstr(name + ": File name too long"));
  });
  EXPECT_EQ(failures, 1u);
  EXPECT_EQ(files(root_).size(), 0u);
}

TEST_P(PublicationTest, resolves_each_collision_as_decided) {
  for (const char* name : {"a", "b", "c"}) publish_file(root_ / name, bytes(1));
  Publication a, b, c, d;
  add(a, root_ / "a", 10);
  add(b, root_ / "b", 10);
  add(c, root_ / "c", 10);
  add(d, root_ / "d", 10);
  Publication* const group[] = {&a, &b, &c, &d};
  std::vector<std::size_t> failed;
  const auto resolve_collision = [&](std::size_t index, const fs::path& existing,
                                     const fs::path& temporary) {
    EXPECT_EQ(compare_files(existing, temporary), FileComparison::prefix);
    if (index == 2) throw ItemError(FailureReason::output_collision, "in the way");
    return index == 0 ? CollisionAction::replace : CollisionAction::keep;
  };
  publish(group, {.durable = durable_, .resolve_collision = resolve_collision},
          [&](std::size_t index, const ItemError& error) {
            failed.push_back(index);
            EXPECT_EQ(error.reason(), FailureReason::output_collision);
          });
  EXPECT_EQ(failed, std::vector<std::size_t>{2});
  EXPECT_FALSE(b.has_known_mtimes()) << "the file that is there has another";
  EXPECT_EQ(fs::file_size(root_ / "a"), 10u);
  EXPECT_EQ(fs::file_size(root_ / "b"), 1u);
  EXPECT_EQ(fs::file_size(root_ / "c"), 1u);
  EXPECT_THAT(files(root_), UnorderedElementsAre("a", "b", "c", "d"));
}

TEST_P(PublicationTest, is_not_published_once_a_file_is_added_again) {
  Publication publication;
  Publication* const group[] = {&publication};
  add(publication, root_ / "a", 10);
  publish(group, {.durable = durable_}, expect_no_failure);
  EXPECT_TRUE(publication.is_published());
  add(publication, root_ / "b", 10);
  EXPECT_FALSE(publication.is_published());
}

/// The program that wrote it may not have synced it.
TEST_P(PublicationTest, syncs_a_file_that_is_kept) {
  publish_file(root_ / "a", bytes(1));
  struct stat kept {};
  ASSERT_EQ(::stat((root_ / "a").c_str(), &kept), 0);
  bool is_synced = false;
  test::on_fsync = [&](int descriptor) {
    struct stat status {};
    is_synced |= ::fstat(descriptor, &status) == 0 && status.st_ino == kept.st_ino;
    return 0;
  };
  Publication publication;
  Publication* const group[] = {&publication};
  add(publication, root_ / "a", 10);
  publish(
      group,
      {.durable = durable_,
       .resolve_collision = [](auto, const auto&, const auto&) { return CollisionAction::keep; }},
      expect_no_failure);
  test::on_fsync = {};
  EXPECT_EQ(is_synced, durable_);
}

TEST_P(PublicationTest, publishes_none_if_a_dangling_link_is_in_the_way_of_the_second_file) {
  fs::create_symlink("none", root_ / "b");
  Publication publication;
  add(publication, root_ / "a", 10);
  add(publication, root_ / "b", 10);
  Publication* const group[] = {&publication};
  bool failed = false;
  publish(group,
          {.durable = durable_,
           .resolve_collision = [](auto, const auto&, const auto&) -> CollisionAction {
             throw ItemError(FailureReason::output_collision, "in the way");
           }},
          [&](std::size_t, const ItemError&) { failed = true; });
  EXPECT_TRUE(failed);
  EXPECT_THAT(files(root_), UnorderedElementsAre("b"));
}

TEST(Publication, can_tell_whether_files_can_be_written) {
  const test::TempFolder folder;
  EXPECT_TRUE(can_write_files(folder.path()));
  EXPECT_TRUE(fs::is_empty(folder.path()));
  const test::MaxFileSize limit(1 << 19);
  EXPECT_FALSE(can_write_files(folder.path()));
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(Publication, waits_for_space_if_the_disk_is_full_and_keeps_what_is_published) {
  const TempFolder folder;
  Publication a, b;
  a.add(folder.path() / "a", bytes(10));
  b.add(folder.path() / "b", bytes(10));
  Publication* const group[] = {&a, &b};
  const auto expect_full_disk = [&](const PublishOptions& options) {
    try {
      publish(group, options, expect_no_failure);
      ADD_FAILURE() << "was published";
    } catch (const EnvironmentError& error) {
      EXPECT_EQ(error.remedy(), EnvironmentError::Remedy::free_disk_space);
      EXPECT_EQ(error.what(),
                "cannot write " + (folder.path() / "b").string() + ": No space left on device");
    }
  };
  test::on_rename = [&](const char* to) {
    return std::string_view(to).ends_with("/b") ? ENOSPC : 0;
  };
  expect_full_disk({.resolve_collision = [](auto, const auto&, const auto&) {
    return CollisionAction::replace;
  }});
  test::on_rename = {};
  EXPECT_TRUE(a.is_published());
  EXPECT_FALSE(b.is_published());
  b.clear();
  b.add(folder.path() / "b", bytes(10));
  test::on_fsync = [](int) { return ENOSPC; };
  expect_full_disk({});
  test::on_fsync = {};
  EXPECT_FALSE(b.is_published());
}

/// The path of the first file is free.
TEST_P(PublicationTest, publishes_all_files_or_none_on_a_collision) {
  publish_file(root_ / "b", bytes(1));
  Publication publication;
  add(publication, root_ / "a", 10);
  add(publication, root_ / "b", 10);
  Publication* const group[] = {&publication};
  bool failed = false;
  publish(group,
          {.durable = durable_,
           .resolve_collision = [](auto, const auto&, const auto&) -> CollisionAction {
             throw ItemError(FailureReason::output_collision, "in the way");
           }},
          [&](std::size_t, const ItemError&) { failed = true; });
  EXPECT_TRUE(failed);
  EXPECT_THAT(files(root_), UnorderedElementsAre("b"));
}

TEST(FileComparison, distinguishes_a_prefix_from_a_difference) {
  const TempFolder folder;
  const auto write = [&](const char* name, std::size_t size, bool last_differs = false) {
    std::vector<std::byte> content = bytes(size);
    if (last_differs) content.back() = std::byte(8);
    publish_file(folder.path() / name, content);
    return folder.path() / name;
  };
  constexpr std::size_t kBlock = 1 << 16;
  const fs::path whole = write("whole", 2 * kBlock);
  EXPECT_EQ(compare_files(whole, whole), FileComparison::same);
  EXPECT_EQ(compare_files(write("empty", 0), whole), FileComparison::prefix);
  EXPECT_EQ(compare_files(write("block", kBlock), whole), FileComparison::prefix);
  EXPECT_EQ(compare_files(write("most", 2 * kBlock - 1), whole), FileComparison::prefix);
  EXPECT_EQ(compare_files(write("last", 2 * kBlock, true), whole), FileComparison::different);
  EXPECT_EQ(compare_files(write("longer", 2 * kBlock + 1), whole), FileComparison::different);
  EXPECT_EQ(compare_files(folder.path() / "none", whole), FileComparison::different);
  fs::create_symlink(whole, folder.path() / "link");
  EXPECT_EQ(compare_files(folder.path() / "link", whole), FileComparison::different);
}

INSTANTIATE_TEST_SUITE_P(
    Durability, PublicationTest,
    ::testing::Combine(::testing::Bool(),
                       ::testing::Values(TemporaryName::at_once, TemporaryName::late)),
    [](const auto& each) {
      return std::string(std::get<bool>(each.param) ? "durable" : "not_durable") +
             (std::get<TemporaryName>(each.param) == TemporaryName::late ? "_named_late" : "");
    });

/// A killed process can leave nothing.
TEST(LateNamePublication, has_no_name_before_it_is_published) {
  const TempFolder folder;
  if (link_method(folder.path()) == LinkMethod::none)
    GTEST_SKIP() << "the file system of " << folder.path() << " has no suitable O_TMPFILE";
  Publication one;
  one.add(folder.path() / "a", bytes(10), 1600000000123456789, TemporaryName::late);
  EXPECT_EQ(files(folder.path()).size(), 0u);
  std::vector<std::string> synced;  // what the folder holds at each fsync
  test::on_fsync = [&](int) {
    synced.push_back(files(folder.path()).empty() ? "" : "a");
    return 0;
  };
  Publication* const group[] = {&one};
  publish(group, {.durable = true}, expect_no_failure);
  test::on_fsync = {};
  ASSERT_GE(synced.size(), 2u);
  EXPECT_EQ(synced.front(), "") << "the file, before it has a name";
  EXPECT_EQ(synced.back(), "a") << "then the folder";
  struct stat status {};
  ASSERT_EQ(::stat((folder.path() / "a").c_str(), &status), 0);
  EXPECT_EQ(files::in_ns(status.st_mtim), 1600000000123456789);
  EXPECT_EQ(status.st_nlink, 1u);
}

/// Elsewhere the mtime of a file is read again: a file with a name may be on NFS or SMB.
TEST(LateNamePublication, knows_the_mtimes_unless_a_file_is_kept_or_had_a_name) {
  const TempFolder folder;
  if (link_method(folder.path()) == LinkMethod::none)
    GTEST_SKIP() << "the file system of " << folder.path() << " has no suitable O_TMPFILE";
  const auto keep = [](std::size_t, const fs::path&, const fs::path&) {
    return CollisionAction::keep;
  };
  const auto are_known = [&](const std::string& name, TemporaryName temporary) {
    Publication one;
    const std::int64_t mtime_ns = one.add(folder.path() / name, bytes(1), {}, temporary);
    Publication* const group[] = {&one};
    publish(group, {.resolve_collision = keep}, expect_no_failure);
    struct stat status {};
    const bool is_own = ::stat((folder.path() / name).c_str(), &status) == 0 &&
                        files::in_ns(status.st_mtim) == mtime_ns;
    EXPECT_TRUE(is_own || !one.has_known_mtimes());
    return one.has_known_mtimes();
  };
  EXPECT_TRUE(are_known("a", TemporaryName::late));
  EXPECT_FALSE(are_known("a", TemporaryName::late)) << "kept";
  EXPECT_FALSE(are_known("b", TemporaryName::at_once));
}

TEST(LateNamePublication, does_not_know_the_mtimes_if_only_the_first_file_is_kept) {
  const TempFolder folder;
  publish_file(folder.path() / "a", bytes(1));
  Publication both;
  for (const char* name : {"a", "b"})
    both.add(folder.path() / name, bytes(1), {}, TemporaryName::late);
  Publication* const group[] = {&both};
  publish(
      group,
      {.resolve_collision = [](auto, const auto&, const auto&) { return CollisionAction::keep; }},
      expect_no_failure);
  EXPECT_FALSE(both.has_known_mtimes());
}

/// Root may link a file by its descriptor; others only on newer kernels.
TEST(LateNamePublication, replaces_nothing_by_either_way_to_link) {
  const TempFolder folder;
  if (link_method(folder.path()) == LinkMethod::none)
    GTEST_SKIP() << "the file system of " << folder.path() << " has no suitable O_TMPFILE";
  publish_file(folder.path() / "taken", bytes(1));
  for (const LinkMethod method : {link_method(folder.path()), LinkMethod::proc}) {
    const files::FileDescriptor file = open_unnamed(AT_FDCWD, folder.path());
    ASSERT_TRUE(file);
    EXPECT_FALSE(link_unnamed(file, method, AT_FDCWD, folder.path() / "taken"));
    EXPECT_EQ(errno, EEXIST);
    EXPECT_EQ(fs::file_size(folder.path() / "taken"), 1u);
    EXPECT_TRUE(link_unnamed(file, method, AT_FDCWD, folder.path() / std::to_string(int(method))));
  }
}

TEST(LateNamePublication, has_a_name_at_once_where_the_file_system_is_not_known_to_be_suitable) {
  const fs::path proc = "/proc/self";  // no file can be made there
  EXPECT_EQ(link_method(proc), LinkMethod::none);
}

TEST(NewFilePublication, replaces_nothing_and_leaves_nothing_behind) {
  const TempFolder folder;
  const fs::path& root = folder.path();
  publish_new_file(root / "new" / "a", bytes(10));
  publish_new_file(root / "new" / "a", bytes(10));  // keeps the file
  EXPECT_EQ(test::failure_of([&] { publish_new_file(root / "new" / "a", bytes(11)); }).reason,
            FailureReason::output_collision);
  EXPECT_EQ(test::failure_of([&] { publish_new_file(root / "new" / "a", bytes(9)); }).reason,
            FailureReason::output_collision);
  fs::create_symlink("new/a", root / "link");
  EXPECT_EQ(test::failure_of([&] { publish_new_file(root / "link", bytes(10)); }).reason,
            FailureReason::output_collision);
  EXPECT_EQ(test::failure_of([&] { publish_new_file(root / "new", bytes(10)); }).reason,
            FailureReason::output_collision);
  EXPECT_THAT(files(root / "new"), UnorderedElementsAre("a"));
  EXPECT_TRUE(fs::is_symlink(root / "link"));
  EXPECT_EQ(read_file(root / "new" / "a", 1).size(), 10u);
}

}  // namespace
}  // namespace eckart::io
