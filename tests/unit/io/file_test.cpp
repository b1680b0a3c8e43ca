#include "io/file.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <fstream>
#include <thread>

#include "io/publication.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/io/images.hpp"
#include "tests/unit/io/item_error.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;
using test::Bytes;
using test::failure_of;
using test::TempFolder;
using testing::HasSubstr;

Bytes some_bytes(std::size_t count) { return Bytes(count, std::byte(7)); }

std::size_t entries_in(const fs::path& folder) {
  return std::size_t(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

/// Makes writes beyond `bytes` fail, as on a full disk, while it lives.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  void (*handler_)(int);
  rlimit before_{};
};

/// A file that is written again within a second, with as many bytes, is another.
TEST(StateOf, TellsTimesAPartOfASecondApart) {
  const TempFolder folder;
  const fs::path path = folder.path() / "file";
  std::ofstream(path) << "x";
  const auto state_at = [&](long nanoseconds) {
    const timespec times[] = {{1700000000, nanoseconds}, {1700000000, nanoseconds}};
    EXPECT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
    return state_of(path);
  };
  const FileState before = state_at(123456789);
  EXPECT_FALSE(state_at(123456790) == before);
  EXPECT_TRUE(state_at(123456789) == before);
}

TEST(ReadFile, GivesBackWhatWasPublished) {
  const TempFolder folder;
  for (const std::size_t size : {1, 4096, 1000000}) {
    publish_file(folder.path() / "file", some_bytes(size));
    EXPECT_EQ(read_file(folder.path() / "file", 1), some_bytes(size));
  }
}

TEST(ReadFile, SaysWhyItCannot) {
  const TempFolder folder;
  const auto reason = [&](const fs::path& path) {
    return failure_of([&] { read_file(path, 1); }).reason;
  };
  EXPECT_EQ(reason(folder.path() / "nothing"), Reason::not_found);
  EXPECT_EQ(reason(folder.path()), Reason::unreadable);
  EXPECT_EQ(reason("/dev/zero"), Reason::unreadable);
  ASSERT_EQ(::mkfifo((folder.path() / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(reason(folder.path() / "fifo"), Reason::unreadable) << "and does not wait for a writer";
  fs::create_symlink("loop", folder.path() / "loop");
  EXPECT_EQ(reason(folder.path() / "loop"), Reason::unreadable);
  fs::create_symlink("gone", folder.path() / "dangling");
  EXPECT_EQ(reason(folder.path() / "dangling"), Reason::not_found);
  std::ofstream(folder.path() / "empty").close();
  EXPECT_EQ(reason(folder.path() / "empty"), Reason::empty_file);
}

TEST(ReadFile, RefusesLargeFilesByTheirSize) {
  const TempFolder folder;
  const fs::path path = folder.path() / "large";
  publish_file(path, some_bytes(1));
  fs::resize_file(path, 1 << 20);
  EXPECT_EQ(read_file(path, 1).size(), std::size_t(1) << 20);
  fs::resize_file(path, (1 << 20) + 1);
  test::Failure failure = failure_of([&] { read_file(path, 1); });
  EXPECT_EQ(failure.reason, Reason::too_large);
  EXPECT_THAT(failure.detail, HasSubstr("limits.file_mb = 1"));
  fs::resize_file(path, std::uintmax_t(1) << 40);  // a hole; would not fit into memory
  EXPECT_EQ(failure_of([&] { read_file(path, 1024); }).reason, Reason::too_large);
}

TEST(PublishFile, MakesMissingFoldersAndLeavesNothingElse) {
  const TempFolder folder;
  publish_file(folder.path() / "a" / "b" / "c", some_bytes(10));
  EXPECT_EQ(read_file(folder.path() / "a" / "b" / "c", 1).size(), 10u);
  EXPECT_EQ(entries_in(folder.path() / "a" / "b"), 1u);
}

TEST(PublishFile, ReplacesWhatWasThere) {
  const TempFolder folder;
  publish_file(folder.path() / "file", some_bytes(1000));
  publish_file(folder.path() / "file", some_bytes(10));
  EXPECT_EQ(read_file(folder.path() / "file", 1).size(), 10u);
  EXPECT_EQ(entries_in(folder.path()), 1u);
}

TEST(PublishFile, TakesTheLongestAndTheOddestNames) {
  const TempFolder folder;
  for (const std::string& name : {std::string(255, 'x'), std::string("\xFF\xFE\n \x01.png")}) {
    publish_file(folder.path() / name, some_bytes(10));
    EXPECT_EQ(read_file(folder.path() / name, 1).size(), 10u);
  }
}

TEST(PublishFile, ManyThreadsInOneNewFolder) {
  const TempFolder folder;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        publish_file(folder.path() / "new" / "one" / std::to_string(t * 50 + i), some_bytes(100));
        publish_file(folder.path() / "new" / "one" / "shared", some_bytes(100));
      }
    });
  }
  threads.clear();
  EXPECT_EQ(entries_in(folder.path() / "new" / "one"), 201u);
}

TEST(PublishFile, LeavesNoTemporaryWhenTheTargetIsAFolder) {
  const TempFolder folder;
  fs::create_directory(folder.path() / "target");
  const test::Failure failure =
      failure_of([&] { publish_file(folder.path() / "target", some_bytes(10)); });
  EXPECT_EQ(failure.reason, Reason::not_written);
  EXPECT_THAT(failure.detail, HasSubstr((folder.path() / "target").native() + ": Is a directory"));
  EXPECT_EQ(entries_in(folder.path()), 1u);
}

TEST(PublishFile, LeavesTheOldFileWholeWhenTheDiskIsFull) {
  const TempFolder folder;
  publish_file(folder.path() / "file", some_bytes(100));
  test::Failure failure;
  {
    const FileSizeLimit limit(4096);  // the first write is short, the second one fails
    failure = failure_of([&] { publish_file(folder.path() / "file", some_bytes(10000)); });
  }
  EXPECT_EQ(failure.reason, Reason::not_written);
  EXPECT_THAT(failure.detail, HasSubstr("File too large"));
  EXPECT_EQ(read_file(folder.path() / "file", 1), some_bytes(100));
  EXPECT_EQ(entries_in(folder.path()), 1u);
}

TEST(PublishFile, SaysWhenItsFolderIsAFile) {
  const TempFolder folder;
  publish_file(folder.path() / "file", some_bytes(1));
  const test::Failure failure =
      failure_of([&] { publish_file(folder.path() / "file" / "below", some_bytes(1)); });
  EXPECT_EQ(failure.reason, Reason::not_written);
  EXPECT_THAT(failure.detail,
              HasSubstr((folder.path() / "file" / "below").native() + ": Not a directory"));
  EXPECT_EQ(entries_in(folder.path()), 1u);
}

TEST(PublishFile, ReplacesALinkNotWhatItPointsTo) {
  const TempFolder folder;
  publish_file(folder.path() / "input", some_bytes(100));
  fs::create_symlink("input", folder.path() / "output");
  publish_file(folder.path() / "output", some_bytes(10));
  EXPECT_EQ(read_file(folder.path() / "input", 1).size(), 100u);
}

}  // namespace
}  // namespace eckart::io
