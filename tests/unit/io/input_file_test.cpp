#include "io/input_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "core/error.hpp"
#include "io/publication.hpp"
#include "io/read_file.hpp"
#include "tests/support/no_free_descriptors.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/codec/failure_of.hpp"
#include "tests/unit/codec/test_images.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;
using test::Bytes;
using test::failure_of;
using test::TempFolder;

ByteBuffer counted_bytes(std::size_t count) {
  ByteBuffer bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = std::byte(i & 0xFF);
  return bytes;
}

void set_mtime(const fs::path& path, timespec mtime) {
  const std::array<timespec, 2> times{timespec{0, UTIME_OMIT}, mtime};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times.data(), 0), 0);
}

TEST(InputFile, reads_any_part) {
  const TempFolder folder;
  const fs::path path = folder.path() / "file";
  publish_file(path, counted_bytes(1000));
  const InputFile file(path);
  EXPECT_EQ(file.size(), 1000);
  Bytes part(100);
  EXPECT_EQ(file.read_at(200, part), 100u);
  EXPECT_EQ(part[0], std::byte(200));
  EXPECT_EQ(file.read_at(950, part), 50u) << "up to the end of the file";
  EXPECT_EQ(file.read_at(5000, part), 0u);
  EXPECT_EQ(file.read_all(1), counted_bytes(1000)) << "starts at the beginning after other reads";
}

TEST(InputFile, stays_the_file_that_was_opened) {
  const TempFolder folder;
  const fs::path path = folder.path() / "file";
  publish_file(path, counted_bytes(10));
  const InputFile file(path);
  const files::FileState before = state_of(path);
  publish_file(path, counted_bytes(20));
  EXPECT_EQ(file.state(), before);
  EXPECT_NE(file.state(), state_of(path));
  EXPECT_EQ(file.read_all(1), counted_bytes(10));
}

TEST(InputFile, accepts_an_open_descriptor) {
  const TempFolder folder;
  publish_file(folder.path() / "file", counted_bytes(10));
  const auto open = [&](const char* name) {
    return files::FileDescriptor(::open((folder.path() / name).c_str(), InputFile::kOpenFlags));
  };
  EXPECT_EQ(InputFile(open("file")).read_all(1), counted_bytes(10));
  ASSERT_EQ(::mkfifo((folder.path() / "fifo").c_str(), 0600), 0);
  for (const char* name : {"", "fifo", "missing"})
    EXPECT_EQ(failure_of([&] { InputFile file(open(name)); }).reason, FailureReason::unreadable)
        << name;
}

/// The file is not the cause.
TEST(InputFile, throws_an_environment_error_if_no_file_descriptors_are_left) {
  const TempFolder folder;
  const fs::path path = folder.path() / "file";
  publish_file(path, counted_bytes(10));
  const test::NoFreeDescriptors none;
  EXPECT_THROW(InputFile file(path), EnvironmentError);
}

TEST(InputFile, reads_fewer_bytes_of_a_truncated_file) {
  const TempFolder folder;
  const fs::path path = folder.path() / "file";
  publish_file(path, counted_bytes(1000));
  const InputFile file(path);
  fs::resize_file(path, 10);
  EXPECT_EQ(file.read_all(1), counted_bytes(10));
  fs::resize_file(path, 0);
  EXPECT_EQ(failure_of([&] { file.read_all(1); }).reason, FailureReason::empty_file);
}

TEST(FileState, differs_with_each_nanosecond_of_the_modification_time) {
  const TempFolder folder;
  const fs::path path = folder.path() / "file";
  publish_file(path, counted_bytes(10));
  set_mtime(path, {1000, 1});
  const files::FileState before = state_of(path);
  EXPECT_EQ(before.mtime_ns, 1000'000'000'001);
  set_mtime(path, {1000, 2});
  EXPECT_NE(state_of(path), before);
  EXPECT_EQ(InputFile(path).state(), state_of(path));
}

}  // namespace
}  // namespace eckart::io
