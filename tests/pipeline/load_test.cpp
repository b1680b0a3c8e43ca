// Tests how much of the budget loading reserves, and what is rejected before a reservation.
#include "pipeline/load.hpp"

#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "io/publication.hpp"
#include "tests/pipeline/fake_memory.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/io/factors_maker.hpp"
#include "tests/unit/io/failure_of.hpp"
#include "tests/unit/io/make_jpeg.hpp"
#include "tests/unit/io/png_maker.hpp"
#include "tests/unit/io/test_images.hpp"

namespace eckart {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;
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

  /// Loads the file. The reservations are in reserved_.
  pipeline::WorkItem load(const fs::path& path, const ImageLimits& limits = {}) {
    pipeline::Loader loader(limits, ranks_, &io::codec_for(ImageFormat::png), 1, input_);
    pipeline::WorkItem item;
    item.file = path;
    item.has_factors = input_.wants_factors;
    if (item.has_factors) item.outputs = {"image.npz"};
    item.kept_factors = kept_factors_;
    reserved_.clear();
    test::FakeMemory memory([&](std::size_t bytes) {
      reserved_.push_back(bytes);
      return budget_.reserve(bytes);
    });
    loader.load(item, std::nullopt, memory);
    item.output_ranks = {};  // they refer to the loader
    return item;
  }

  /// Returns the reason why a file is rejected before any reservation.
  FailureReason header_error(const fs::path& path, const ImageLimits& limits = {}) {
    const test::CaughtError failure = test::failure_of([&] { load(path, limits); });
    EXPECT_TRUE(reserved_.empty()) << failure.detail;
    return failure.reason;
  }

  /// Writes `start`, and extends the file with a hole to `size` bytes.
  fs::path sparse(const Bytes& start, std::uintmax_t size) {
    const fs::path path = write(start);
    fs::resize_file(path, size);
    return path;
  }

  const test::TempFolder folder_;
  std::vector<RankPolicy> ranks_{{3}};
  pipeline::InputOptions input_;
  std::optional<pipeline::KeptFactors> kept_factors_;
  flow::Budget budget_{std::size_t(64) << 30};
  std::vector<std::size_t> reserved_;
};

const Image& image() {
  static const Image made = test::gradient_image({200, 300, 3, Depth::u8});
  return made;
}

TEST_F(LoadTest, reserves_once_and_shrinks_to_the_pixels) {
  const Bytes file = io::codec_for(ImageFormat::png).encode(image(), {});
  for (const std::size_t ranks : {1, 3}) {
    ranks_.assign(ranks, RankPolicy{3});
    const pipeline::WorkItem item = load(write(file));
    const std::size_t pixels = image().bytes(), resident_bytes = pixels * (1 + ranks);
    const std::size_t max_metadata = file.size();
    EXPECT_EQ(reserved_,
              std::vector{std::max(file.size() + 2 * pixels, resident_bytes) + max_metadata});
    EXPECT_EQ(item.reservation.bytes(), resident_bytes);
    EXPECT_EQ(item.task.outputs.size(), ranks);
    EXPECT_EQ(item.input_bytes, std::int64_t(file.size()));
    EXPECT_EQ(budget_.used_bytes(), resident_bytes);
  }
  EXPECT_EQ(budget_.used_bytes(), 0u);
}

/// They are made one after the other. A checked backend has freed its copies by then.
TEST_F(LoadTest, reserves_one_residual) {
  const fs::path path = write(io::codec_for(ImageFormat::png).encode(image(), {}));
  ranks_ = {{3}, {5}};
  for (const int copies : {1, 2}) {
    pipeline::Loader loader({}, ranks_, &io::codec_for(ImageFormat::png), copies);
    pipeline::WorkItem item;
    item.file = path;
    item.outputs.resize(2 * ranks_.size());
    test::FakeMemory memory([&](std::size_t bytes) { return budget_.reserve(bytes); });
    loader.load(item, std::nullopt, memory);
    EXPECT_EQ(item.reservation.bytes(), image().bytes() * (copies == 1 ? 1 + 2 + 1 : 2 * (1 + 2)));
    item.output_ranks = {};
  }
}

TEST_F(LoadTest, reserves_the_copies_of_a_checked_backend) {
  constexpr int kCopies = 2;
  pipeline::Loader loader({}, ranks_, &io::codec_for(ImageFormat::png), kCopies);
  pipeline::WorkItem item;
  item.file = write(io::codec_for(ImageFormat::png).encode(image(), {}));
  test::FakeMemory memory([&](std::size_t bytes) { return budget_.reserve(bytes); });
  loader.load(item, std::nullopt, memory);
  EXPECT_EQ(item.reservation.bytes(), kCopies * image().bytes() * (1 + ranks_.size()));
  item.output_ranks = {};
}

/// OpenCV copies the file, without the chunks that pixels do not depend on, and the pixels.
TEST_F(LoadTest, reserves_what_opencv_takes) {
  const Bytes file = io::codec_for(ImageFormat::png).encode(image(), {});
  ranks_.clear();  // so that nothing but decoding counts
  pipeline::Loader loader({}, ranks_, &io::codec_for(ImageFormat::png), /*copies=*/1,
                          {.decoder = Decoder::opencv});
  const auto reserved = [&](const Bytes& bytes) {
    pipeline::WorkItem item;
    item.file = write(bytes);
    std::size_t total = 0;
    test::FakeMemory memory([&](std::size_t count) { return budget_.reserve(total = count); });
    loader.load(item, std::nullopt, memory);
    EXPECT_TRUE(item.task.input.shape() == image().shape());
    item.output_ranks = {};
    return total;
  };
  EXPECT_EQ(reserved(file), 3 * file.size() + 2 * image().bytes());
  const Bytes jpeg = test::make_jpeg(image(), {});
  EXPECT_EQ(reserved(jpeg), 3 * jpeg.size() + 2 * image().bytes());
}

/// The task has the prepared image, and the reservation is for the largest phase.
TEST_F(LoadTest, prepares_the_image) {
  const auto pixels = image().bytes(), gray = pixels / 3;
  const Bytes file = io::codec_for(ImageFormat::png).encode(image(), {});
  const auto expect = [&](const Preparation& preparation, const ImageShape& shape,
                          std::size_t bytes) {
    pipeline::Loader loader({}, ranks_, &io::codec_for(ImageFormat::png), /*copies=*/1,
                            {.preparation = preparation});
    pipeline::WorkItem item;
    item.file = write(file);
    std::size_t reserved = 0;
    test::FakeMemory memory([&](std::size_t count) { return budget_.reserve(reserved = count); });
    loader.load(item, std::nullopt, memory);
    EXPECT_EQ(item.task.input.shape(), shape);
    for (const Image& output : item.task.outputs) EXPECT_EQ(output.shape(), shape);
    EXPECT_EQ(reserved, bytes + file.size()) << "the file may hold as much metadata";
    EXPECT_EQ(item.reservation.bytes(), shape.bytes() * (1 + ranks_.size()));
    item.output_ranks = {};
  };
  const std::size_t decoding = file.size() + 2 * pixels;
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
  const auto exif =
      "\xFF\xE1\0\x22"
      "Exif\0\0MM\0*\0\0\0\10\0\1\1\22\0\3\0\0\0\1\0\6\0\0\0\0\0\0"sv;
  pipeline::Loader loader({}, ranks_, &io::codec_for(ImageFormat::png), /*copies=*/1,
                          {.preparation = {.size = TargetSize::exactly(40, 10000)}});
  pipeline::WorkItem item;
  item.file = write(test::with_inserted(test::make_jpeg(image(), {}), 2, exif));
  std::size_t reserved = 0;
  test::FakeMemory memory([&](std::size_t count) { return budget_.reserve(reserved = count); });
  loader.load(item, std::nullopt, memory);
  EXPECT_EQ(item.task.input.shape(), (ImageShape{10000, 40, 3, Depth::u8}));
  EXPECT_GE(reserved, item.reservation.bytes());
  item.output_ranks = {};
}

TEST_F(LoadTest, applies_limits_to_the_prepared_size) {
  pipeline::Loader loader({.pixels = 100000}, ranks_, &io::codec_for(ImageFormat::png),
                          /*copies=*/1, {.preparation = {.size = TargetSize::exactly(1000, 101)}});
  pipeline::WorkItem item;
  item.file = write(io::codec_for(ImageFormat::png).encode(image(), {}));
  test::FakeMemory memory([&](std::size_t bytes) { return budget_.reserve(bytes); });
  const test::CaughtError failure =
      test::failure_of([&] { loader.load(item, std::nullopt, memory); });
  EXPECT_EQ(failure.reason, FailureReason::too_large);
  EXPECT_EQ(failure.detail,
            "resized to 101 x 1000 pixels (rows x columns) exceeds limits.pixels = 100000");
}

TEST_F(LoadTest, reserves_alpha_until_it_is_dropped) {
  const auto file = [](std::string_view alpha) {
    return test::PngMaker(1, 1, 8, 4).pixels("\0\1"s + std::string(alpha)).end();
  };
  EXPECT_EQ(load(write(file("\x7F"))).reservation.bytes(), 2 + ranks_.size());
  EXPECT_EQ(load(write(file("\xFF"))).reservation.bytes(), 1 + ranks_.size());
}

TEST_F(LoadTest, rejects_alpha_that_the_output_cannot_hold) {
  const fs::path path = write(test::PngMaker(1, 1, 8, 4).pixels("\0\1\x7F"sv).end());
  const auto load_for_jpeg = [&](AlphaPolicy policy) {
    pipeline::Loader loader({}, ranks_, &io::codec_for(ImageFormat::jpeg), /*copies=*/1,
                            {.alpha = policy});
    pipeline::WorkItem item;
    item.file = path;
    test::FakeMemory memory([&](std::size_t bytes) { return budget_.reserve(bytes); });
    const test::CaughtError failure =
        test::failure_of([&] { loader.load(item, std::nullopt, memory); });
    item.output_ranks = {};
    return failure.reason;
  };
  EXPECT_EQ(load_for_jpeg(AlphaPolicy::keep), FailureReason::not_encodable);
  EXPECT_EQ(load_for_jpeg(AlphaPolicy::fail), FailureReason::unsupported);
  EXPECT_EQ(load_for_jpeg(AlphaPolicy::white), FailureReason::none);
}

/// They may be metadata.
TEST_F(LoadTest, reserves_trailing_bytes_twice) {
  const Bytes file = io::codec_for(ImageFormat::png).encode(image(), {});
  load(sparse(file, 10 * kMiB));
  EXPECT_EQ(reserved_, std::vector{20 * kMiB + 2 * image().bytes()});
}

TEST_F(LoadTest, reserves_jpeg_memory_from_the_header) {
  const std::size_t pixels = image().bytes();
  const std::size_t coefficients = 2 * (200 * 304 * 3);  // two bytes each, in whole blocks
  const Bytes baseline = test::make_jpeg(image(), {});
  ranks_.clear();  // so that nothing but decoding counts
  load(write(baseline));
  EXPECT_EQ(reserved_, std::vector{baseline.size() + pixels});
  for (const test::JpegOptions kind :
       {test::JpegOptions{.progressive = true}, test::JpegOptions{.interleaved = false}}) {
    const Bytes file = test::make_jpeg(image(), kind);
    load(write(file));
    EXPECT_EQ(reserved_, std::vector{file.size() + pixels + coefficients});
  }
  const auto exif =
      "\xFF\xE1\0\x22"
      "Exif\0\0MM\0*\0\0\0\10\0\1\1\22\0\3\0\0\0\1\0\6\0\0\0\0\0\0"sv;
  const Bytes rotated = test::with_inserted(baseline, 2, exif);
  load(write(rotated));
  const std::size_t metadata = 32;  // the segment
  EXPECT_EQ(reserved_, std::vector{rotated.size() + 2 * pixels + metadata});
}

/// Files of 512 MiB, of which one page is on the disk.
TEST_F(LoadTest, reserves_the_factors_that_are_read) {
  const Bytes file = test::factors_file({200, 300, 3, Depth::u8}, 5);
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
  const fs::path path = write(io::codec_for(ImageFormat::png).encode(image(), {}));
  const std::size_t without = load(path).reservation.bytes();
  const fs::path file = folder_.path() / "kept.npz";
  const auto keep = [&](Bytes factors) {
    fs::remove(file);
    io::publish_file(file, factors);
    kept_factors_ = {file, std::int64_t(factors.size()), 0.002};
    return load(path);
  };
  const auto uses = [&](const Bytes& factors) { return !keep(factors).task.known_factors.empty(); };
  const Bytes enough = test::factors_file(image().shape(), 5);
  const pipeline::WorkItem item = keep(enough);
  EXPECT_EQ(item.task.known_factors.size(), 3U);
  EXPECT_EQ(item.task.known_loss_db, 0.002);
  EXPECT_TRUE(item.has_known_pixels());
  EXPECT_EQ(item.reservation.bytes(), without + 2 * enough.size());
  EXPECT_FALSE(uses(test::factors_file(image().shape(), 2))) << "of a lower rank";
  EXPECT_FALSE(uses(test::factors_file({200, 300, 1, Depth::u8}, 5))) << "of another image";
  Bytes damaged = enough;
  damaged[damaged.size() / 2] ^= std::byte(1);
  EXPECT_FALSE(uses(damaged));
  fs::remove(file);
  EXPECT_TRUE(load(path).task.known_factors.empty()) << "missing";
}

TEST_F(LoadTest, reserves_the_factors_that_are_written) {
  const Bytes file = io::codec_for(ImageFormat::png).encode(image(), {});
  const std::size_t without = load(write(file)).reservation.bytes();
  input_.wants_factors = true;
  const auto more_for = [&](std::vector<RankPolicy> ranks) {
    ranks_ = std::move(ranks);
    return load(write(file)).reservation.bytes() - without;
  };
  EXPECT_EQ(more_for({{7}}), 3 * 3 * factor_bytes(200, 300, 7)) << "factors, arrays and file";
  EXPECT_EQ(more_for({{RankPolicy::Kind::psnr, 30}}), 3 * 3 * factor_bytes(200, 300, 200));
}

TEST_F(LoadTest, rejects_settings_that_need_pixels_for_factors) {
  const fs::path file = write(test::factors_file({20, 30, 3, Depth::u8}, 5));
  const auto error_with = [&](auto&& change) {
    input_ = {};
    change(input_);
    return header_error(file);
  };
  EXPECT_EQ(error_with([](auto& input) { input.preparation.gray = true; }),
            FailureReason::unsupported);
  EXPECT_EQ(error_with([](auto& input) { input.preparation.normalize = Normalization::minmax; }),
            FailureReason::unsupported);
  EXPECT_EQ(error_with([](auto& input) { input.why_no_factors = "output.residual"; }),
            FailureReason::unsupported);
}

TEST_F(LoadTest, rejects_sparse_non_images_by_their_header) {
  const auto bytes = [](std::string_view text) {
    const auto* begin = reinterpret_cast<const std::byte*>(text.data());
    return Bytes(begin, begin + text.size());
  };
  const std::uintmax_t size = 512 * kMiB;
  EXPECT_EQ(header_error(sparse(bytes("hello"), size)), FailureReason::not_an_image);
  EXPECT_EQ(header_error(sparse(bytes("\xFF\xD8\xFF"), size)), FailureReason::corrupt);
  EXPECT_EQ(header_error(sparse(bytes("\x89PNG\r\n\x1a\n"), size)), FailureReason::corrupt);
  Bytes header = test::make_jpeg(image(), {});
  header.resize(std::size_t(test::find_marker(header, 0xDA)));  // up to its scan
  EXPECT_EQ(header_error(sparse(header, size)), FailureReason::corrupt);
  EXPECT_EQ(header_error(sparse(test::PngMaker(1, 1, 8, 0).bytes_so_far(), size)),
            FailureReason::corrupt);
  EXPECT_EQ(header_error(sparse(bytes("hello"), 1025 * kMiB)), FailureReason::too_large);
}

TEST_F(LoadTest, applies_limits_before_reserving) {
  const fs::path path = write(io::codec_for(ImageFormat::png).encode(image(), {}));
  EXPECT_EQ(header_error(path, {.pixels = 59999}), FailureReason::too_large);
  EXPECT_EQ(header_error(path, {.decode_mb = 0}), FailureReason::too_large);
  EXPECT_EQ(
      header_error(sparse(test::make_jpeg(image(), {.progressive = true}), kMiB), {.decode_mb = 1}),
      FailureReason::too_large);
  EXPECT_EQ(header_error(sparse({}, 0)), FailureReason::empty_file);
}

TEST_F(LoadTest, keeps_no_reservation_of_a_failed_item) {
  Bytes file = io::codec_for(ImageFormat::png).encode(image(), {});
  file[file.size() / 2] ^= std::byte(1);
  const fs::path path = write(file);
  EXPECT_EQ(test::failure_of([&] { load(path); }).reason, FailureReason::corrupt);
  EXPECT_EQ(reserved_.size(), 1u);
  EXPECT_EQ(budget_.used_bytes(), 0u);
}

TEST_F(LoadTest, rejects_a_file_that_grew_while_waiting) {
  const fs::path path = write(test::PngMaker(1, 1, 8, 0).pixels("\0\1"sv).end());
  const Bytes larger = test::PngMaker(1, 2, 8, 0).pixels("\0\1\0\2"sv).end();
  pipeline::Loader loader({}, ranks_, &io::codec_for(ImageFormat::png));
  pipeline::WorkItem item;
  item.file = path;
  test::FakeMemory memory([&](std::size_t bytes) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(larger.data()), std::streamsize(larger.size()));
    return budget_.reserve(bytes);
  });
  const test::CaughtError failure =
      test::failure_of([&] { loader.load(item, std::nullopt, memory); });
  EXPECT_EQ(failure.reason, FailureReason::corrupt);
  EXPECT_TRUE(item.task.input.empty());
}

/// Cb and Cr of a lower rank are no copies.
TEST_F(LoadTest, logs_that_an_output_is_a_copy_only_if_all_ranks_are_full) {
  const fs::path path =
      write(io::codec_for(ImageFormat::png).encode(test::noise_image({20, 30, 3, Depth::u8}), {}));
  std::ostringstream log;
  const std::shared_ptr<spdlog::logger> previous = spdlog::default_logger();
  spdlog::set_default_logger(
      std::make_shared<spdlog::logger>("", std::make_shared<spdlog::sinks::ostream_sink_mt>(log)));
  for (const int chroma_rank : {3, 100}) {
    pipeline::Loader loader({}, {RankPolicy(100)}, &io::codec_for(ImageFormat::png), 1,
                            {.color = ColorMode::ycbcr, .chroma_rank = RankPolicy(chroma_rank)});
    pipeline::WorkItem item;
    item.file = path;
    test::FakeMemory memory([&](std::size_t bytes) { return budget_.reserve(bytes); });
    loader.load(item, std::nullopt, memory);
    EXPECT_EQ(log.str().find("copy of the input") != std::string::npos, chroma_rank == 100);
    item.output_ranks = {};
  }
  spdlog::set_default_logger(previous);
}

}  // namespace
}  // namespace eckart
