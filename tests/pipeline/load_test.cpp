// Tests what loading rejects, and when.
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <string_view>

#include "io/content_hash.hpp"
#include "tests/pipeline/load_fixture.hpp"
#include "tests/support/log_capture.hpp"
#include "tests/unit/codec/factors_maker.hpp"
#include "tests/unit/codec/make_jpeg.hpp"
#include "tests/unit/codec/png_maker.hpp"

namespace eckart::test {
namespace {

namespace fs = std::filesystem;
using namespace std::string_view_literals;

class LoadErrorTest : public LoadTest {
 protected:
  /// Returns the reason why a file is rejected before any reservation.
  FailureReason header_error(const fs::path& path, const ImageLimits& limits = {}) {
    const CaughtError failure = failure_of([&] { load(path, limits); });
    EXPECT_TRUE(reserved_.empty()) << failure.detail;
    return failure.reason;
  }
};

TEST_F(LoadErrorTest, applies_limits_to_the_prepared_size) {
  input_.preparation.size = TargetSize::exactly(1000, 101);
  const CaughtError failure = failure_of([&] { load(write(png_file()), {.pixels = 100000}); });
  EXPECT_EQ(failure.reason, FailureReason::too_large);
  EXPECT_EQ(failure.detail,
            "resized to 101 x 1000 pixels (rows x columns) exceeds limits.pixels = 100000");
}

TEST_F(LoadErrorTest, rejects_alpha_that_the_output_cannot_hold) {
  const fs::path path = write(PngMaker(1, 1, 8, 4).pixels("\0\1\x7F"sv).end());
  output_format_ = ImageFormat::jpeg;
  const auto reason_with = [&](AlphaPolicy policy) {
    input_.alpha = policy;
    return failure_of([&] { load(path); }).reason;
  };
  EXPECT_EQ(reason_with(AlphaPolicy::keep), FailureReason::not_encodable);
  EXPECT_EQ(reason_with(AlphaPolicy::fail), FailureReason::unsupported);
  EXPECT_EQ(reason_with(AlphaPolicy::white), FailureReason::none);
}

TEST_F(LoadErrorTest, rejects_settings_that_need_pixels_for_factors) {
  const fs::path file = write(factors_file({20, 30, 3, Depth::u8}, 5));
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

/// Files of 512 MiB, of which one page is on the disk.
TEST_F(LoadErrorTest, rejects_sparse_non_images_by_their_header) {
  const auto bytes = [](std::string_view text) {
    const auto* begin = reinterpret_cast<const std::byte*>(text.data());
    return Bytes(begin, begin + text.size());
  };
  const std::uintmax_t size = 512 * kMiB;
  EXPECT_EQ(header_error(sparse(bytes("hello"), size)), FailureReason::not_an_image);
  EXPECT_EQ(header_error(sparse(bytes("\xFF\xD8\xFF"), size)), FailureReason::corrupt);
  EXPECT_EQ(header_error(sparse(bytes("\x89PNG\r\n\x1a\n"), size)), FailureReason::corrupt);
  Bytes header = make_jpeg(image(), {});
  header.resize(std::size_t(find_marker(header, 0xDA)));  // up to its scan
  EXPECT_EQ(header_error(sparse(header, size)), FailureReason::corrupt);
  EXPECT_EQ(header_error(sparse(PngMaker(1, 1, 8, 0).bytes_so_far(), size)),
            FailureReason::corrupt);
  EXPECT_EQ(header_error(sparse(bytes("hello"), 1025 * kMiB)), FailureReason::too_large);
}

TEST_F(LoadErrorTest, applies_limits_before_reserving) {
  const fs::path path = write(png_file());
  EXPECT_EQ(header_error(path, {.pixels = 59999}), FailureReason::too_large);
  EXPECT_EQ(header_error(path, {.decode_mb = 0}), FailureReason::too_large);
  EXPECT_EQ(header_error(sparse(make_jpeg(image(), {.progressive = true}), kMiB), {.decode_mb = 1}),
            FailureReason::too_large);
  EXPECT_EQ(header_error(sparse({}, 0)), FailureReason::empty_file);
}

/// A small file is read with its header. A larger one must still have this header afterwards.
TEST_F(LoadErrorTest, rejects_a_file_that_changed_while_waiting_unless_it_was_read_before) {
  const Bytes other = PngMaker(1, 2, 8, 0).pixels("\0\1\0\2"sv).end();
  for (const int side : {20, 400}) {
    SCOPED_TRACE(side);
    const fs::path path = write(
        codec::codec_for(ImageFormat::png).encode(noise_image({side, side, 1, Depth::u8}), {}));
    pipeline::Loader loader({}, ranks_, &codec::codec_for(ImageFormat::png));
    pipeline::WorkItem item;
    item.file = path;
    FakeMemory memory([&](std::size_t bytes) {
      std::ofstream(path, std::ios::binary)
          .write(reinterpret_cast<const char*>(other.data()), std::streamsize(other.size()));
      return budget_.reserve(bytes);
    });
    if (side == 20) {
      loader.load(item, std::nullopt, memory);
      EXPECT_EQ(item.task.input.shape().rows, side);
      continue;
    }
    const CaughtError failure = failure_of([&] { loader.load(item, std::nullopt, memory); });
    EXPECT_EQ(failure.reason, FailureReason::corrupt);
    EXPECT_TRUE(item.task.input.empty());
  }
}

/// Cb and Cr of a lower rank are no copies.
TEST_F(LoadTest, logs_that_an_output_is_a_copy_only_if_all_ranks_are_full) {
  const fs::path path =
      write(codec::codec_for(ImageFormat::png).encode(noise_image({20, 30, 3, Depth::u8}), {}));
  std::ostringstream log;
  const std::shared_ptr<spdlog::logger> previous = spdlog::default_logger();
  spdlog::set_default_logger(
      std::make_shared<spdlog::logger>("", std::make_shared<spdlog::sinks::ostream_sink_mt>(log)));
  ranks_ = {RankPolicy(100)};
  input_.color = ColorMode::ycbcr;
  for (const int chroma_rank : {3, 100}) {
    input_.chroma_rank = RankPolicy(chroma_rank);
    load(path);
    EXPECT_EQ(log.str().find("copy of the input") != std::string::npos, chroma_rank == 100);
  }
  spdlog::set_default_logger(previous);
}

TEST(WorkItem, has_all_that_the_source_tells) {
  io::SourceItem arrival;
  arrival.file = "in/a.png", arrival.relative = "a.png";
  arrival.outcome = Outcome::failed(Stage::source, FailureReason::unreadable, "no");
  arrival.job = 3, arrival.attempt = 4, arrival.is_last_attempt = false;
  arrival.sibling_folders = std::make_shared<const std::set<std::string>>();
  arrival.identity.state = {.size = 5, .mtime_ns = 6, .inode = 7};
  const pipeline::ItemPtr item = pipeline::make_work_item(std::move(arrival));
  EXPECT_EQ(item->file, "in/a.png");
  EXPECT_EQ(item->relative, "a.png");
  EXPECT_EQ(item->outcome.reason, FailureReason::unreadable);
  EXPECT_EQ(item->job, 3);
  EXPECT_EQ(item->attempt, 4);
  EXPECT_FALSE(item->is_last_attempt);
  EXPECT_TRUE(item->sibling_folders);
  EXPECT_EQ(item->file_state, (files::FileState{5, 6, 7}));
  EXPECT_EQ(item->identity.state, item->file_state);
}

TEST_F(LoadErrorTest, names_the_setting_that_needs_pixels) {
  const fs::path file = write(factors_file({20, 30, 3, Depth::u8}, 5));
  const auto detail_with = [&](auto&& change) {
    input_ = {};
    change(input_);
    return failure_of([&] { load(file); }).detail;
  };
  EXPECT_EQ(detail_with([](auto& input) { input.preparation.gray = true; }),
            "factors have no pixels for gray");
  EXPECT_EQ(detail_with([](auto& input) { input.preparation.size = TargetSize::exactly(9, 9); }),
            "factors have no pixels for input.size");
  EXPECT_EQ(detail_with([](auto& input) { input.preparation.normalize = Normalization::minmax; }),
            "factors have no pixels for input.normalize");
  EXPECT_EQ(detail_with([](auto& input) { input.why_no_factors = "output.residual"; }),
            "factors have no pixels for output.residual");
}

TEST_F(LoadTest, knows_the_size_and_the_hash_of_the_file_that_it_has_read) {
  for (const int side : {20, 400}) {  // read with its header, or later
    const Bytes bytes =
        codec::codec_for(ImageFormat::png).encode(noise_image({side, side, 1, Depth::u8}), {});
    const fs::path path = write(bytes);
    for (const bool needs_hash : {false, true}) {
      pipeline::Loader loader({}, ranks_, &codec::codec_for(ImageFormat::png));
      pipeline::WorkItem item;
      item.file = path;
      item.needs_content_hash = needs_hash;
      FakeMemory memory([&](std::size_t size) { return budget_.reserve(size); });
      loader.load(item, std::nullopt, memory);
      EXPECT_EQ(item.input_bytes, std::int64_t(bytes.size()));
      EXPECT_EQ(item.content_hash, needs_hash ? io::content_hash(bytes) : "");
    }
  }
}

TEST_F(LoadErrorTest, applies_the_limit_of_the_file_size) {
  const fs::path path = sparse(png_file(), 2 * kMiB + 1);
  EXPECT_EQ(header_error(path, {.file_mb = 2}), FailureReason::too_large);
}

TEST_F(LoadTest, logs_once_that_an_output_is_a_copy_and_that_jpeg_noise_is_not_white) {
  const LogCapture log;
  const fs::path path = write(make_jpeg(noise_image({20, 30, 1, Depth::u8}), {}));
  ranks_ = {RankPolicy(20)};
  load(path);
  EXPECT_EQ(log.text(), "") << "the full rank as it was asked for";
  ranks_ = {RankPolicy(21), RankPolicy(RankPolicy::Kind::gavish_donoho, 0)};
  pipeline::Loader loader({}, ranks_, &codec::codec_for(ImageFormat::png));
  for (int i = 0; i < 2; ++i) {
    pipeline::WorkItem item;
    item.file = path;
    FakeMemory memory([&](std::size_t size) { return budget_.reserve(size); });
    loader.load(item, std::nullopt, memory);
  }
  const std::string text = log.text();
  const auto count = [&](std::string_view words) {
    int found = 0;
    for (std::size_t at = text.find(words); at != text.npos; at = text.find(words, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count("rank 21 is above min(rows, cols) = 20; the output is a copy of the input"), 1);
  EXPECT_EQ(count("expects white noise"), 1);
}

}  // namespace
}  // namespace eckart::test
