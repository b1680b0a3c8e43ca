#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "codec/codec.hpp"
#include "io/publication.hpp"
#include "pipeline/load.hpp"
#include "tests/pipeline/fake_memory.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/codec/failure_of.hpp"
#include "tests/unit/codec/test_images.hpp"

namespace eckart::test {

constexpr std::size_t kMiB = std::size_t(1) << 20;

/// Loads files with the settings of its members.
class LoadTest : public testing::Test {
 protected:
  std::filesystem::path write(const Bytes& bytes) {
    const std::filesystem::path path = folder_.path() / "image";
    io::publish_file(path, bytes);
    return path;
  }

  /// Loads the file. The reservations are in reserved_.
  pipeline::WorkItem load(const std::filesystem::path& path, const ImageLimits& limits = {}) {
    pipeline::Loader loader(limits, ranks_, &codec::codec_for(output_format_), copies_, input_);
    pipeline::WorkItem item;
    item.file = path;
    item.outputs = outputs_;
    item.has_factors = input_.wants_factors;
    if (item.has_factors) item.outputs = {"image.npz"};
    item.kept_factors = kept_factors_;
    reserved_.clear();
    FakeMemory memory(
        [&](std::size_t bytes) {
          reserved_.push_back(bytes);
          return budget_.reserve(bytes);
        },
        leaves_to_backend_);
    loader.load(item, std::nullopt, memory);
    item.output_ranks = {};  // they refer to the loader
    return item;
  }

  /// Writes `start`, and extends the file with a hole to `size` bytes.
  std::filesystem::path sparse(const Bytes& start, std::uintmax_t size) {
    const std::filesystem::path path = write(start);
    std::filesystem::resize_file(path, size);
    return path;
  }

  static const Image& image() {
    static const Image made = gradient_image({200, 300, 3, Depth::u8});
    return made;
  }
  static Bytes png_file() { return codec::codec_for(ImageFormat::png).encode(image(), {}); }

  const TempFolder folder_;
  std::vector<RankPolicy> ranks_{{3}};
  std::vector<std::filesystem::path> outputs_;
  ImageFormat output_format_ = ImageFormat::png;
  int copies_ = 1;
  pipeline::InputOptions input_;
  bool leaves_to_backend_ = false;  // as the backend does
  std::optional<pipeline::KeptFactors> kept_factors_;
  flow::Budget budget_{std::size_t(64) << 30};
  std::vector<std::size_t> reserved_;
};

}  // namespace eckart::test
