// Tests how much of the budget loading reserves.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "tests/pipeline/load_fixture.hpp"
#include "tests/unit/codec/factors_maker.hpp"
#include "tests/unit/codec/make_jpeg.hpp"
#include "tests/unit/codec/png_maker.hpp"

namespace eckart::test {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;
using namespace std::string_view_literals;

/// An EXIF segment with an orientation that exchanges rows and columns.
constexpr auto kRotation =
    "\xFF\xE1\0\x22"
    "Exif\0\0MM\0*\0\0\0\10\0\1\1\22\0\3\0\0\0\1\0\6\0\0\0\0\0\0"sv;

/// The memory of decoding a PNG: rows with their filter bytes, and a copy if EXIF turns the image.
std::size_t png_decode_bytes(const Image& image) {
  return 2 * image.bytes() + std::size_t(image.shape().rows);
}

TEST_F(LoadTest, reserves_once_and_shrinks_to_the_pixels) {
  const Bytes file = png_file();
  for (const std::size_t ranks : {1, 3}) {
    ranks_.assign(ranks, RankPolicy{3});
    const pipeline::WorkItem item = load(write(file));
    const std::size_t pixels = image().bytes(), resident_bytes = pixels * (1 + ranks);
    const std::size_t max_metadata = file.size();
    EXPECT_EQ(reserved_,
              std::vector{std::max(file.size() + png_decode_bytes(image()), resident_bytes) +
                          max_metadata});
    EXPECT_EQ(item.reservation.bytes(), resident_bytes);
    EXPECT_EQ(item.task.results.size(), ranks);
    EXPECT_TRUE(item.task.outputs.empty()) << "they are allocated when the image is computed";
    EXPECT_EQ(item.input_bytes, std::int64_t(file.size()));
    EXPECT_EQ(budget_.used_bytes(), resident_bytes);
  }
  EXPECT_EQ(budget_.used_bytes(), 0u);
}

/// The file, should the CPU have to decode it, and what the backend decodes of it.
TEST_F(LoadTest, reserves_two_sizes_of_a_file_that_the_backend_decodes) {
  input_.needs_no_pixels = true;
  for (const Bytes& file : {png_file(), make_jpeg(image(), {})}) {
    const fs::path path = write(file);
    leaves_to_backend_ = false;
    const std::size_t resident = load(path).reservation.bytes(), reserved = reserved_.at(0);
    leaves_to_backend_ = true;
    const pipeline::WorkItem item = load(path);
    EXPECT_NE(item.task.encoded_input, nullptr);
    EXPECT_EQ(reserved_, std::vector{reserved + 2 * file.size()});
    EXPECT_EQ(item.reservation.bytes(), resident + 2 * file.size());
  }
}

/// They are made one after the other. A checked backend has freed its copies by then.
TEST_F(LoadTest, reserves_one_residual) {
  const fs::path path = write(png_file());
  ranks_ = {{3}, {5}};
  outputs_.resize(2 * ranks_.size());
  for (const int copies : {1, 2}) {
    copies_ = copies;
    EXPECT_EQ(load(path).reservation.bytes(),
              image().bytes() * (copies == 1 ? 1 + 2 + 1 : 2 * (1 + 2)));
  }
}

TEST_F(LoadTest, reserves_the_copies_of_a_checked_backend) {
  copies_ = 2;
  EXPECT_EQ(load(write(png_file())).reservation.bytes(), 2 * image().bytes() * (1 + ranks_.size()));
}

/// OpenCV copies the file, without the chunks that pixels do not depend on, and the pixels.
TEST_F(LoadTest, reserves_what_opencv_takes) {
  ranks_.clear();  // so that nothing but decoding counts
  input_.decoder = Decoder::opencv;
  for (const Bytes& file : {png_file(), make_jpeg(image(), {})}) {
    EXPECT_TRUE(load(write(file)).task.input.shape() == image().shape());
    EXPECT_EQ(reserved_, std::vector{3 * file.size() + 2 * image().bytes()});
  }
}

/// The task has the prepared image, and the reservation is for the largest phase.
TEST_F(LoadTest, prepares_the_image) {
  const auto pixels = image().bytes(), gray = pixels / 3;
  const Bytes file = png_file();
  const auto expect = [&](const Preparation& preparation, const ImageShape& shape,
                          std::size_t bytes) {
    input_.preparation = preparation;
    const pipeline::WorkItem item = load(write(file));
    EXPECT_EQ(item.task.input.shape(), shape);
    EXPECT_EQ(reserved_, std::vector{bytes + file.size()}) << "the file may hold as much metadata";
    EXPECT_EQ(item.reservation.bytes(), shape.bytes() * (1 + ranks_.size()));
  };
  const std::size_t decoding = file.size() + png_decode_bytes(image());
  expect({.gray = true}, {200, 300, 1, Depth::u8}, decoding);
  expect({.size = TargetSize::at_most(30)}, {20, 30, 3, Depth::u8}, decoding);
  expect({.gray = true, .size = TargetSize::exactly(3000, 300)}, {300, 3000, 1, Depth::u8},
         2 * 15 * gray);
  expect({.gray = true, .size = TargetSize::exactly(30, 20000)}, {20000, 30, 1, Depth::u8},
         2 * 10 * gray);
  ranks_.clear();  // so that the preparation needs the most: after the columns of a rotated image
  expect({.size = TargetSize::exactly(300, 2000)}, {2000, 300, 3, Depth::u8},
         (300 + 2000) * 300 * 3);
}

TEST_F(LoadTest, reserves_for_both_orientations_of_a_resized_image) {
  input_.preparation.size = TargetSize::exactly(40, 10000);
  const pipeline::WorkItem item = load(write(with_inserted(make_jpeg(image(), {}), 2, kRotation)));
  EXPECT_EQ(item.task.input.shape(), (ImageShape{10000, 40, 3, Depth::u8}));
  EXPECT_GE(reserved_.at(0), item.reservation.bytes());
}

TEST_F(LoadTest, reserves_alpha_until_it_is_dropped) {
  const auto file = [](std::string_view alpha) {
    return PngMaker(1, 1, 8, 4).pixels("\0\1"s + std::string(alpha)).end();
  };
  EXPECT_EQ(load(write(file("\x7F"))).reservation.bytes(), 2 + ranks_.size());
  EXPECT_EQ(load(write(file("\xFF"))).reservation.bytes(), 1 + ranks_.size());
}

/// They may be metadata. The rows may be in several chunks, which are copied then, as far as the
/// rows can be that large.
TEST_F(LoadTest, reserves_trailing_bytes_twice) {
  const Bytes file = png_file();
  load(sparse(file, 10 * kMiB));
  ASSERT_EQ(reserved_.size(), 1U);
  EXPECT_GE(reserved_[0], 20 * kMiB + png_decode_bytes(image()));
  EXPECT_LE(reserved_[0], 20 * kMiB + png_decode_bytes(image()) + image().bytes() / 10);
}

TEST_F(LoadTest, reserves_jpeg_memory_from_the_header) {
  const std::size_t pixels = image().bytes();
  const std::size_t coefficients = 2 * (200 * 304 * 3);  // two bytes each, in whole blocks
  const Bytes baseline = make_jpeg(image(), {});
  ranks_.clear();  // so that nothing but decoding counts
  load(write(baseline));
  EXPECT_EQ(reserved_, std::vector{baseline.size() + pixels});
  for (const JpegOptions kind :
       {JpegOptions{.progressive = true}, JpegOptions{.interleaved = false}}) {
    const Bytes file = make_jpeg(image(), kind);
    load(write(file));
    EXPECT_EQ(reserved_, std::vector{file.size() + pixels + coefficients});
  }
  const Bytes rotated = with_inserted(baseline, 2, kRotation);
  load(write(rotated));
  const std::size_t metadata = 32;  // the segment
  EXPECT_EQ(reserved_, std::vector{rotated.size() + 2 * pixels + metadata});
}

TEST_F(LoadTest, reserves_the_factors_that_are_read) {
  const Bytes file = factors_file({200, 300, 3, Depth::u8}, 5);
  const pipeline::WorkItem item = load(write(file));
  const std::size_t pixels = image().bytes(), factors = 3 * factor_bytes(200, 300, 5);
  EXPECT_EQ(item.reservation.bytes(), 2 * pixels + factors);
  EXPECT_GE(reserved_.at(0), file.size() + pixels + factors);
  EXPECT_EQ(item.task.known_factors.size(), 3U);
  EXPECT_FALSE(item.has_known_pixels());
  EXPECT_FALSE(item.skips_backend);
}

/// Otherwise the image is decomposed.
TEST_F(LoadTest, uses_kept_factors_that_suffice) {
  const fs::path path = write(codec::codec_for(ImageFormat::png).encode(image(), {}));
  const std::size_t without = load(path).reservation.bytes();
  const fs::path file = folder_.path() / "kept.npz";
  const auto keep = [&](Bytes factors) {
    fs::remove(file);
    io::publish_file(file, factors);
    kept_factors_ = {file, std::int64_t(factors.size()), 0.002};
    return load(path);
  };
  const auto uses = [&](const Bytes& factors) { return !keep(factors).task.known_factors.empty(); };
  const Bytes enough = factors_file(image().shape(), 5);
  const pipeline::WorkItem item = keep(enough);
  EXPECT_EQ(item.task.known_factors.size(), 3U);
  EXPECT_EQ(item.task.known_loss_db, 0.002);
  EXPECT_TRUE(item.has_known_pixels());
  EXPECT_EQ(item.reservation.bytes(), without + 2 * enough.size());
  EXPECT_FALSE(uses(factors_file(image().shape(), 2))) << "of a lower rank";
  EXPECT_FALSE(uses(factors_file({200, 300, 1, Depth::u8}, 5))) << "of another image";
  Bytes damaged = enough;
  damaged[damaged.size() / 2] ^= std::byte(1);
  EXPECT_FALSE(uses(damaged));
  fs::remove(file);
  EXPECT_TRUE(load(path).task.known_factors.empty()) << "missing";
}

/// The whole image is decomposed, so that no rank is lost.
TEST_F(LoadTest, does_not_use_kept_factors_that_one_rank_exceeds) {
  const fs::path path = write(codec::codec_for(ImageFormat::png).encode(image(), {}));
  const Bytes factors = factors_file(image().shape(), 5);
  const fs::path file = folder_.path() / "kept.npz";
  io::publish_file(file, factors);
  kept_factors_ = {file, std::int64_t(factors.size()), 0.002};
  ranks_ = {{3}, {9}};
  const pipeline::WorkItem item = load(path);
  EXPECT_TRUE(item.task.known_factors.empty());
  EXPECT_EQ(item.task.ranks.size(), 2U);
}

TEST_F(LoadTest, reserves_the_factors_that_are_written) {
  const Bytes file = png_file();
  const std::size_t without = load(write(file)).reservation.bytes();
  input_.wants_factors = true;
  const auto more_for = [&](std::vector<RankPolicy> ranks) {
    ranks_ = std::move(ranks);
    return load(write(file)).reservation.bytes() - without;
  };
  EXPECT_EQ(more_for({{7}}), 3 * 3 * factor_bytes(200, 300, 7)) << "factors, arrays and file";
  EXPECT_EQ(more_for({{RankPolicy::Kind::psnr, 30}}), 3 * 3 * factor_bytes(200, 300, 200));
}

TEST_F(LoadTest, keeps_no_reservation_of_a_failed_item) {
  Bytes file = png_file();
  file[file.size() / 2] ^= std::byte(1);
  const fs::path path = write(file);
  EXPECT_EQ(failure_of([&] { load(path); }).reason, FailureReason::corrupt);
  EXPECT_EQ(reserved_.size(), 1u);
  EXPECT_EQ(budget_.used_bytes(), 0u);
}

}  // namespace
}  // namespace eckart::test
