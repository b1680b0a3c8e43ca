#include "io/read_file.hpp"

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
#include "tests/unit/codec/failure_of.hpp"
#include "tests/unit/codec/test_images.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;
using test::Bytes;
using test::failure_of;
using test::TempFolder;
using testing::HasSubstr;

Bytes make_bytes(std::size_t count) { return Bytes(count, std::byte(7)); }

std::size_t entries_in(const fs::path& folder) {
  return std::size_t(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

/// While it exists, writes beyond `bytes` fail, as on a full disk.
class ScopedFileSizeLimit {
 public:
  explicit ScopedFileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ScopedFileSizeLimit(const ScopedFileSizeLimit&) = delete;
  ScopedFileSizeLimit& operator=(const ScopedFileSizeLimit&) = delete;
  ~ScopedFileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  void (*handler_)(int);
  rlimit before_{};
};

/// A file that is written again within a second, with the same size, has another state.
TEST(FileState, differs_after_a_fraction_of_a_second) {
  const TempFolder folder;
  const fs::path path = folder.path() / "file";
  std::ofstream(path) << "x";
  const auto state_at = [&](long nanoseconds) {
    const timespec times[] = {{1700000000, nanoseconds}, {1700000000, nanoseconds}};
    EXPECT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
    return state_of(path);
  };
  const files::FileState before = state_at(123456789);
  EXPECT_FALSE(state_at(123456790) == before);
  EXPECT_TRUE(state_at(123456789) == before);
}

TEST(FileReading, returns_what_was_published) {
  const TempFolder folder;
  for (const std::size_t size : {1, 4096, 1000000}) {
    publish_file(folder.path() / "file", make_bytes(size));
    EXPECT_EQ(read_file(folder.path() / "file", 1), make_bytes(size));
  }
}

TEST(FileReading, reports_why_it_fails) {
  const TempFolder folder;
  const auto reason = [&](const fs::path& path) {
    return failure_of([&] { read_file(path, 1); }).reason;
  };
  EXPECT_EQ(reason(folder.path() / "nothing"), FailureReason::not_found);
  EXPECT_EQ(reason(folder.path()), FailureReason::unreadable);
  EXPECT_EQ(reason("/dev/zero"), FailureReason::unreadable);
  ASSERT_EQ(::mkfifo((folder.path() / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(reason(folder.path() / "fifo"), FailureReason::unreadable)
      << "does not wait for a writer";
  fs::create_symlink("loop", folder.path() / "loop");
  EXPECT_EQ(reason(folder.path() / "loop"), FailureReason::unreadable);
  fs::create_symlink("gone", folder.path() / "dangling");
  EXPECT_EQ(reason(folder.path() / "dangling"), FailureReason::not_found);
  std::ofstream(folder.path() / "empty").close();
  EXPECT_EQ(reason(folder.path() / "empty"), FailureReason::empty_file);
}

TEST(FileReading, rejects_large_files_by_size) {
  const TempFolder folder;
  const fs::path path = folder.path() / "large";
  publish_file(path, make_bytes(1));
  fs::resize_file(path, 1 << 20);
  EXPECT_EQ(read_file(path, 1).size(), std::size_t(1) << 20);
  fs::resize_file(path, (1 << 20) + 1);
  test::CaughtError failure = failure_of([&] { read_file(path, 1); });
  EXPECT_EQ(failure.reason, FailureReason::too_large);
  EXPECT_THAT(failure.detail, HasSubstr("limits.file_mb = 1"));
  fs::resize_file(path, std::uintmax_t(1) << 40);  // a hole; would not fit into memory
  EXPECT_EQ(failure_of([&] { read_file(path, 1024); }).reason, FailureReason::too_large);
}

TEST(FilePublication, creates_missing_folders_and_leaves_no_temporary) {
  const TempFolder folder;
  publish_file(folder.path() / "a" / "b" / "c", make_bytes(10));
  EXPECT_EQ(read_file(folder.path() / "a" / "b" / "c", 1).size(), 10u);
  EXPECT_EQ(entries_in(folder.path() / "a" / "b"), 1u);
}

TEST(FilePublication, replaces_an_existing_file) {
  const TempFolder folder;
  publish_file(folder.path() / "file", make_bytes(1000));
  publish_file(folder.path() / "file", make_bytes(10));
  EXPECT_EQ(read_file(folder.path() / "file", 1).size(), 10u);
  EXPECT_EQ(entries_in(folder.path()), 1u);
}

TEST(FilePublication, accepts_long_and_unusual_names) {
  const TempFolder folder;
  for (const std::string& name : {std::string(255, 'x'), std::string("\xFF\xFE\n \x01.png")}) {
    publish_file(folder.path() / name, make_bytes(10));
    EXPECT_EQ(read_file(folder.path() / name, 1).size(), 10u);
  }
}

TEST(FilePublication, allows_many_threads_in_one_new_folder) {
  const TempFolder folder;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        publish_file(folder.path() / "new" / "one" / std::to_string(t * 50 + i), make_bytes(100));
        publish_file(folder.path() / "new" / "one" / "shared", make_bytes(100));
      }
    });
  }
  threads.clear();
  EXPECT_EQ(entries_in(folder.path() / "new" / "one"), 201u);
}

TEST(FilePublication, leaves_no_temporary_when_the_target_is_a_folder) {
  const TempFolder folder;
  fs::create_directory(folder.path() / "target");
  const test::CaughtError failure =
      failure_of([&] { publish_file(folder.path() / "target", make_bytes(10)); });
  EXPECT_EQ(failure.reason, FailureReason::not_written);
  EXPECT_THAT(failure.detail, HasSubstr((folder.path() / "target").native() + ": Is a directory"));
  EXPECT_EQ(entries_in(folder.path()), 1u);
}

TEST(FilePublication, keeps_the_old_file_when_the_disk_is_full) {
  const TempFolder folder;
  publish_file(folder.path() / "file", make_bytes(100));
  test::CaughtError failure;
  {
    const ScopedFileSizeLimit limit(4096);  // the first write is short, the second one fails
    failure = failure_of([&] { publish_file(folder.path() / "file", make_bytes(10000)); });
  }
  EXPECT_EQ(failure.reason, FailureReason::not_written);
  EXPECT_THAT(failure.detail, HasSubstr("File too large"));
  EXPECT_EQ(read_file(folder.path() / "file", 1), make_bytes(100));
  EXPECT_EQ(entries_in(folder.path()), 1u);
}

TEST(FilePublication, reports_that_its_folder_is_a_file) {
  const TempFolder folder;
  publish_file(folder.path() / "file", make_bytes(1));
  const test::CaughtError failure =
      failure_of([&] { publish_file(folder.path() / "file" / "below", make_bytes(1)); });
  EXPECT_EQ(failure.reason, FailureReason::not_written);
  EXPECT_THAT(failure.detail,
              HasSubstr((folder.path() / "file" / "below").native() + ": Not a directory"));
  EXPECT_EQ(entries_in(folder.path()), 1u);
}

TEST(FilePublication, replaces_a_link_not_its_target) {
  const TempFolder folder;
  publish_file(folder.path() / "input", make_bytes(100));
  fs::create_symlink("input", folder.path() / "output");
  publish_file(folder.path() / "output", make_bytes(10));
  EXPECT_EQ(read_file(folder.path() / "input", 1).size(), 100u);
}

}  // namespace
}  // namespace eckart::io
