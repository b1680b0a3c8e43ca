// Which side decodes inputs.
#include "pipeline/input_decoding.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "pipeline/found_images.hpp"

namespace eckart::pipeline {
namespace {

using std::chrono::milliseconds;

// The backend takes 1 ms for an image and 0.1 us for a byte of it, a load thread 10 ns for a byte.
constexpr compute::DecodingRate kBackend{
    .max_images = 1000, .s_per_image = 1e-3, .s_per_byte = 0.1e-6};
constexpr std::size_t kBytes = 10'000;
constexpr ImageFormat kFormat = ImageFormat::jpeg;

class InputDecodingTest : public testing::Test {
 protected:
  InputDecodingTest() {
    for (int i = 0; i < 100; ++i)
      decoding_.add_loaded(kFormat, kBytes, std::chrono::microseconds(100));
  }
  bool prefers_backend(std::int64_t images, std::size_t bytes = kBytes) {
    return decoding_.prefers_backend(kFormat, kBackend, bytes, images);
  }

  InputDecoding decoding_{8};
};

TEST_F(InputDecodingTest, prefers_the_backend_when_it_decodes_enough_images_at_once) {
  EXPECT_TRUE(prefers_backend(170));  // in 2 ms; 8 load threads decode 160
  EXPECT_FALSE(prefers_backend(150));
  EXPECT_TRUE(prefers_backend(90, 10 * kBytes));  // in 11 ms; 8 load threads decode 88
  EXPECT_FALSE(prefers_backend(80, 10 * kBytes));
}

TEST_F(InputDecodingTest, counts_no_more_images_than_the_backend_decodes_at_once) {
  const compute::DecodingRate small{.max_images = 150, .s_per_image = 1e-3, .s_per_byte = 0.1e-6};
  EXPECT_FALSE(decoding_.prefers_backend(kFormat, small, kBytes, 5000));
  EXPECT_FALSE(decoding_.prefers_backend(kFormat, {}, kBytes, 5000)) << "it decodes none";
}

TEST_F(InputDecodingTest, follows_the_measured_rate_of_load_threads) {
  decoding_.add_loaded(kFormat, kBytes * 100, milliseconds(1000));  // five times as slow
  EXPECT_TRUE(prefers_backend(40));
}

TEST_F(InputDecodingTest, measures_each_format) {
  decoding_.add_loaded(ImageFormat::png, kBytes * 100, milliseconds(1000));
  for (int i = 0; i < 1000; ++i) decoding_.add_computed(ImageFormat::png, true);
  EXPECT_TRUE(prefers_backend(170));
  EXPECT_FALSE(prefers_backend(150));
}

TEST_F(InputDecodingTest, keeps_large_files_from_the_backend) {
  EXPECT_TRUE(prefers_backend(1000, 980'000));
  EXPECT_FALSE(prefers_backend(1000, 1'000'000));
}

TEST_F(InputDecodingTest, keeps_files_from_the_backend_when_many_were_irregular) {
  for (int i = 0; i < 1000; ++i) decoding_.add_computed(kFormat, i % 100 == 0);
  EXPECT_TRUE(prefers_backend(1000));
  for (int i = 0; i < 100; ++i) decoding_.add_computed(kFormat, true);
  EXPECT_FALSE(prefers_backend(1000));
}

TEST_F(InputDecodingTest, prefers_the_backend_again_when_irregular_files_have_ended) {
  for (int i = 0; i < 5000; ++i) decoding_.add_computed(kFormat, true);
  int trials = 0, files = 0;
  for (; trials < 10'000 && !(prefers_backend(1000) && prefers_backend(1000)); ++trials) {
    int refused = 0;
    for (; !prefers_backend(1000); ++files) ASSERT_LT(++refused, 50) << "one in 50 is a trial";
    decoding_.add_computed(kFormat, false);
  }
  EXPECT_LT(trials, 4000) << "5,000 irregular files, of which the last 1,024 count";
  EXPECT_GT(files, 45 * trials);
}

void finish(pipeline::FoundImages& images, const std::vector<std::int64_t>& numbers) {
  images.finish(numbers);
}

TEST(FoundImages, tells_the_oldest_unfinished_image_and_the_number_of_all) {
  const Instant start = Clock::now();
  FoundImages images;
  EXPECT_EQ(images.oldest_unfinished(), std::nullopt);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(images.add(start + milliseconds(i)), i + 1);
  finish(images, {2});
  EXPECT_EQ(images.oldest_unfinished(), start);
  finish(images, {1});
  EXPECT_EQ(images.oldest_unfinished(), start + milliseconds(2));
  finish(images, {1, 4});  // again, and one that is not known
  EXPECT_EQ(images.unfinished(), 1);
  finish(images, {3});
  EXPECT_EQ(images.oldest_unfinished(), std::nullopt);
  EXPECT_EQ(images.unfinished(), 0);
  EXPECT_EQ(images.count(), 3);
  EXPECT_EQ(images.add(start + milliseconds(3)), 4);
  EXPECT_EQ(images.oldest_unfinished(), start + milliseconds(3));
  EXPECT_EQ(images.add(start + milliseconds(4), 2), 5);
  EXPECT_EQ(images.count(), 6);
  EXPECT_EQ(images.unfinished(), 3);
}

}  // namespace
}  // namespace eckart::pipeline
