#include "codec/file_bytes.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <span>
#include <string>

#include "codec/codec.hpp"
#include "io/input_file.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/codec/failure_of.hpp"
#include "tests/unit/codec/make_jpeg.hpp"
#include "tests/unit/codec/png_maker.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMiB = std::size_t(1) << 20;

class FileBytesTest : public testing::Test {
 protected:
  /// Appends the bytes, and then a hole.
  void write(const test::Bytes& bytes, std::streamoff hole = 0) {
    file_.write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
    file_.seekp(hole, std::ios::cur);
  }
  codec::Header header(ImageFormat format) {
    file_.close();
    const InputFile file(path_);
    return codec::codec_for(format).read_header(file.bytes_on_demand());
  }

  const test::TempFolder folder_;
  const fs::path path_ = folder_.path() / "file";
  std::ofstream file_{path_};
};

test::Bytes bytes_of(std::string_view text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

/// Returns the length and the type of a private chunk.
test::Bytes head_of_chunk(std::uint32_t size) {
  const char big_endian[] = {char(size >> 24), char(size >> 16), char(size >> 8), char(size)};
  return bytes_of(std::string(big_endian, 4) + "prVt");
}

/// The file has 74 MB. Only the heads of its chunks are read.
TEST_F(FileBytesTest, accepts_any_number_of_png_chunks_before_the_pixels) {
  test::PngMaker png(1, 1, 8, 0);
  const test::Bytes begin = png.bytes_so_far(), whole = png.pixels(std::string(2, '\0')).end();
  write(begin);
  for (int i = 0; i < 9000; ++i) write(head_of_chunk(8200), 8200 + 4);
  write({whole.begin() + std::ptrdiff_t(begin.size()), whole.end()});
  EXPECT_EQ(header(ImageFormat::png).shape, (ImageShape{1, 1, 1, Depth::u8}));
}

/// The file has 50 MB. Each byte is read once.
TEST_F(FileBytesTest, accepts_any_number_of_jpeg_segments_of_up_to_64_mib) {
  const test::Bytes whole = test::make_jpeg(test::gradient_image({8, 8, 1, Depth::u8}), {});
  write({whole.begin(), whole.begin() + 2});
  for (int i = 0; i < 6000; ++i) write(bytes_of("\xFF\xE5\x20\x08"), 0x2008 - 2);
  write({whole.begin() + 2, whole.end()});
  EXPECT_EQ(header(ImageFormat::jpeg).shape, (ImageShape{8, 8, 1, Depth::u8}));
}

TEST_F(FileBytesTest, rejects_a_header_with_more_than_64_mib_of_metadata) {
  const test::Bytes whole = test::make_jpeg(test::gradient_image({8, 8, 1, Depth::u8}), {});
  write({whole.begin(), whole.begin() + 2});
  for (int i = 0; i < 1100; ++i) write(bytes_of("\xFF\xE5\xFF\xFF"), 0xFFFF - 2);
  write({whole.begin() + 2, whole.end()});
  const test::CaughtError failure = test::failure_of([&] { header(ImageFormat::jpeg); });
  EXPECT_EQ(failure.reason, FailureReason::too_large);
  EXPECT_EQ(failure.detail, "has more than 64 MiB of metadata before its pixels");
}

TEST_F(FileBytesTest, does_not_count_zeros_as_metadata) {
  for (const ImageFormat format : {ImageFormat::png, ImageFormat::jpeg}) {
    file_ = std::ofstream(path_);
    write(format == ImageFormat::png ? test::PngMaker(1, 1, 8, 0).bytes_so_far()
                                     : bytes_of("\xFF\xD8\xFF\xE5"));
    file_.close();
    fs::resize_file(path_, 100 * kMiB);
    EXPECT_EQ(test::failure_of([&] { header(format); }).reason, FailureReason::corrupt)
        << to_string(format);
  }
}

/// A damaged file may claim to have any number of bytes.
TEST_F(FileBytesTest, needs_memory_for_the_rest_of_the_file_at_most) {
  codec::FileBytes file(10, [](std::size_t offset, std::span<std::byte>) { return 10 - offset; });
  EXPECT_EQ(file.at(4, std::size_t(1) << 60).size(), 6);
}

}  // namespace
}  // namespace eckart::io
