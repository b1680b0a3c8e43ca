#include "pipeline/equal_outputs.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <type_traits>
#include <vector>

#include "codec/codec.hpp"
#include "io/publication.hpp"
#include "synth/random.hpp"
#include "tests/support/temp_folder.hpp"

namespace eckart::pipeline {
namespace {

namespace fs = std::filesystem;

class EqualOutputTest : public testing::Test {
 protected:
  /// Writes an image whose samples are a ramp plus `noise` levels.
  fs::path file(const char* name, ImageShape shape, double noise) {
    synth::Random random(11);
    Image image(shape);
    with_sample_type(shape.depth, [&](auto* type) {
      using Sample = std::remove_pointer_t<decltype(type)>;
      auto* samples = reinterpret_cast<Sample*>(image.data());
      for (std::size_t i = 0; i < shape.samples(); ++i)
        samples[i] = Sample(100 + double(i % 97) + noise * random.normal());
    });
    return written(name, codec::codec_for(ImageFormat::png).encode(image, {}));
  }
  fs::path written(const char* name, const std::vector<std::byte>& bytes) {
    const fs::path path = folder_.path() / name;
    io::publish_file(path, bytes);
    return path;
  }
  const test::TempFolder folder_;
};

constexpr ImageShape kShape{40, 50, 1, Depth::u8};

TEST_F(EqualOutputTest, has_pixels_that_differ_by_rounding) {
  const fs::path a = file("a.png", kShape, 0);
  EXPECT_TRUE(are_equal_outputs(a, a));
  EXPECT_TRUE(are_equal_outputs(a, file("b.png", kShape, 0.5)));
  EXPECT_FALSE(are_equal_outputs(a, file("c.png", kShape, 3)));
}

TEST_F(EqualOutputTest, has_the_same_shape) {
  const fs::path a = file("a.png", kShape, 0);
  EXPECT_FALSE(are_equal_outputs(a, file("b.png", {50, 40, 1, Depth::u8}, 0)));
  EXPECT_FALSE(are_equal_outputs(a, file("c.png", {40, 50, 3, Depth::u8}, 0)));
  EXPECT_FALSE(are_equal_outputs(a, file("d.png", {40, 50, 1, Depth::u16}, 0)));
}

/// Samples of 16 bits may use a small part of their range.
TEST_F(EqualOutputTest, is_compared_by_the_range_of_its_samples) {
  const ImageShape shape{40, 50, 1, Depth::u16};
  const fs::path a = file("a.png", shape, 0);
  EXPECT_TRUE(are_equal_outputs(a, file("b.png", shape, 0.5)));
  EXPECT_FALSE(are_equal_outputs(a, file("c.png", shape, 10)));
}

TEST_F(EqualOutputTest, is_readable) {
  const fs::path a = file("a.png", kShape, 0);
  EXPECT_FALSE(are_equal_outputs(a, folder_.path() / "missing"));
  EXPECT_FALSE(are_equal_outputs(a, written("text", {std::byte('x')})));
}

}  // namespace
}  // namespace eckart::pipeline
