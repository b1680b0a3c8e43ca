// What loading an item takes of the budget, and what is refused before it takes anything.
#include "pipeline/load.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include "io/publication.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/io/images.hpp"
#include "tests/unit/io/item_error.hpp"
#include "tests/unit/io/jpeg_maker.hpp"
#include "tests/unit/io/png_maker.hpp"

namespace eckart {
namespace {

namespace fs = std::filesystem;
using namespace std::string_view_literals;
using test::Bytes;

constexpr std::size_t kMiB = std::size_t(1) << 20;

class LoadTest : public testing::Test {
 protected:
  fs::path write(const Bytes& bytes) {
    const fs::path path = folder_.path() / "image";
    io::publish_file(path, bytes);
    return path;
  }

  /// The item of that file; what it reserved is in reserved_.
  WorkItem load(const fs::path& path, const io::Limits& limits = {}) {
    const LoadItem load = make_load(limits, ranks_, io::codec_named("png"));
    WorkItem item;
    item.file = path;
    reserved_.clear();
    load(item, [&](std::size_t bytes) {
      reserved_.push_back(bytes);
      return budget_.reserve(bytes);
    });
    item.task.ranks = {};  // which were the loader's
    return item;
  }

  /// Of a file that is refused before a byte is reserved.
  Reason early_refusal(const fs::path& path, const io::Limits& limits = {}) {
    const test::Failure failure = test::failure_of([&] { load(path, limits); });
    EXPECT_TRUE(reserved_.empty()) << failure.detail;
    return failure.reason;
  }

  /// The file, and zeros that take no space, up to `size`.
  fs::path sparse(const Bytes& start, std::uintmax_t size) {
    const fs::path path = write(start);
    fs::resize_file(path, size);
    return path;
  }

  const test::TempFolder folder_;
  std::vector<RankPolicy> ranks_{{3}};
  flow::Budget budget_{std::size_t(64) << 30};
  std::vector<std::size_t> reserved_;
};

const Image& image() {
  static const Image made = test::smooth_image({200, 300, 3, Depth::u8});
  return made;
}

TEST_F(LoadTest, OneReservationThatShrinksToThePixels) {
  const Bytes file = io::codec_named("png").encode(image(), {});
  for (const std::size_t ranks : {1, 3}) {
    ranks_.assign(ranks, RankPolicy{3});
    const WorkItem item = load(write(file));
    const std::size_t pixels = image().bytes(), kept = pixels * (1 + ranks);
    EXPECT_EQ(reserved_, std::vector{std::max(file.size() + 2 * pixels, kept)});
    EXPECT_EQ(item.bytes.bytes(), kept);
    EXPECT_EQ(item.task.outputs.size(), ranks);
    EXPECT_EQ(item.input_bytes, std::int64_t(file.size()));
    EXPECT_EQ(budget_.in_use(), kept);
  }
  EXPECT_EQ(budget_.in_use(), 0u);
}

TEST_F(LoadTest, BytesAfterTheImageAreReservedToo) {
  const Bytes file = io::codec_named("png").encode(image(), {});
  load(sparse(file, 10 * kMiB));
  EXPECT_EQ(reserved_, std::vector{10 * kMiB + 2 * image().bytes()});
}

TEST_F(LoadTest, WhatAJpegTakesIsKnownFromItsHeader) {
  const std::size_t pixels = image().bytes();
  const std::size_t coefficients = 2 * (200 * 304 * 3);  // two bytes each, in whole blocks
  const Bytes baseline = test::make_jpeg(image(), {});
  ranks_.clear();  // so that nothing but decoding counts
  load(write(baseline));
  EXPECT_EQ(reserved_, std::vector{baseline.size() + pixels});
  for (const test::JpegKind kind :
       {test::JpegKind{.progressive = true}, test::JpegKind{.interleaved = false}}) {
    const Bytes file = test::make_jpeg(image(), kind);
    load(write(file));
    EXPECT_EQ(reserved_, std::vector{file.size() + pixels + coefficients});
  }
  const auto exif =
      "\xFF\xE1\0\x22"
      "Exif\0\0MM\0*\0\0\0\10\0\1\1\22\0\3\0\0\0\1\0\6\0\0\0\0\0\0"sv;
  const Bytes turned = test::with_inserted(baseline, 2, exif);
  load(write(turned));
  EXPECT_EQ(reserved_, std::vector{turned.size() + 2 * pixels});
}

/// 512 MiB each, of which a page is on the disk.
TEST_F(LoadTest, SparseFilesThatAreNoImagesAreRefusedByTheirHeader) {
  const auto bytes = [](std::string_view text) {
    const auto* begin = reinterpret_cast<const std::byte*>(text.data());
    return Bytes(begin, begin + text.size());
  };
  const std::uintmax_t size = 512 * kMiB;
  EXPECT_EQ(early_refusal(sparse(bytes("hello"), size)), Reason::not_an_image);
  EXPECT_EQ(early_refusal(sparse(bytes("\xFF\xD8\xFF"), size)), Reason::corrupt);
  EXPECT_EQ(early_refusal(sparse(bytes("\x89PNG\r\n\x1a\n"), size)), Reason::corrupt);
  Bytes header = test::make_jpeg(image(), {});
  header.resize(std::size_t(test::find_marker(header, 0xDA)));  // up to its scan
  EXPECT_EQ(early_refusal(sparse(header, size)), Reason::corrupt);
  EXPECT_EQ(early_refusal(sparse(test::PngMaker(1, 1, 8, 0).so_far(), size)), Reason::corrupt);
  EXPECT_EQ(early_refusal(sparse(bytes("hello"), 1025 * kMiB)), Reason::too_large);
}

TEST_F(LoadTest, LimitsRefuseBeforeAnythingIsReserved) {
  const fs::path path = write(io::codec_named("png").encode(image(), {}));
  EXPECT_EQ(early_refusal(path, {.pixels = 59999}), Reason::too_large);
  EXPECT_EQ(early_refusal(path, {.decode_mb = 0}), Reason::too_large);
  EXPECT_EQ(early_refusal(sparse(test::make_jpeg(image(), {.progressive = true}), kMiB),
                          {.decode_mb = 1}),
            Reason::too_large);
  EXPECT_EQ(early_refusal(sparse({}, 0)), Reason::empty_file);
}

TEST_F(LoadTest, AFailedItemKeepsNothing) {
  Bytes file = io::codec_named("png").encode(image(), {});
  file[file.size() / 2] ^= std::byte(1);
  const fs::path path = write(file);
  EXPECT_EQ(test::failure_of([&] { load(path); }).reason, Reason::corrupt);
  EXPECT_EQ(reserved_.size(), 1u);
  EXPECT_EQ(budget_.in_use(), 0u);
}

TEST_F(LoadTest, AFileThatBecomesLargerWhileItWaitsIsNotTaken) {
  const fs::path path = write(test::PngMaker(1, 1, 8, 0).pixels("\0\1"sv).end());
  const Bytes larger = test::PngMaker(1, 2, 8, 0).pixels("\0\1\0\2"sv).end();
  const LoadItem load = make_load({}, ranks_, io::codec_named("png"));
  WorkItem item;
  item.file = path;
  const test::Failure failure = test::failure_of([&] {
    load(item, [&](std::size_t bytes) {
      std::ofstream(path, std::ios::binary)
          .write(reinterpret_cast<const char*>(larger.data()), std::streamsize(larger.size()));
      return budget_.reserve(bytes);
    });
  });
  EXPECT_EQ(failure.reason, Reason::corrupt);
  EXPECT_TRUE(item.task.input.empty());
}

}  // namespace
}  // namespace eckart
