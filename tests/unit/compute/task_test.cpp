// Tasks, batch keys and channel groups, and what converts results.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "compute/backend.hpp"
#include "compute/float_scale.hpp"
#include "compute/task_rank_rule.hpp"
#include "core/error.hpp"

namespace eckart::compute {
namespace {

using testing::ElementsAre;
using PolicyKind = RankPolicy::Kind;

Task task_of(const ImageShape& shape) {
  Task task;
  task.input = Image(shape);
  return task;
}

/// An input that is decoded by this function, from a file of one byte.
template <class Decode>
std::shared_ptr<const EncodedInput> encoded_input(Decode decode) {
  return std::make_shared<const EncodedInput>(ByteBuffer(1, std::byte(7)),
                                              codec::png::EncodedImage{}, decode);
}

TEST(EncodedInput, is_decoded_once_when_its_samples_are_needed) {
  int decoded = 0;
  Task task = task_of({2, 3, 1, Depth::u8});
  task.encoded_input = encoded_input([&](std::span<const std::byte> file) {
    ++decoded;
    EXPECT_EQ(file.size(), 1u);
    Image image({2, 3, 1, Depth::u8});
    std::memset(image.data(), int(file[0]), image.bytes());
    return image;
  });
  EXPECT_TRUE(try_decode_input(task));
  EXPECT_EQ(task.encoded_input, nullptr);
  EXPECT_EQ(task.input.data()[5], std::byte(7));
  decode_input(task);
  EXPECT_TRUE(try_decode_input(task));
  EXPECT_EQ(decoded, 1);
  EXPECT_EQ(task.error, "");
}

TEST(EncodedInput, names_the_stage_and_reason_if_it_cannot_be_decoded) {
  Task task = task_of({2, 3, 1, Depth::u8});
  task.encoded_input = encoded_input([](std::span<const std::byte>) -> Image {
    throw ItemError(FailureReason::corrupt, "ends early");
  });
  EXPECT_THROW(decode_input(task), ItemError);
  EXPECT_FALSE(try_decode_input(task));
  EXPECT_EQ(task.error, "ends early");
  EXPECT_EQ(task.reason, FailureReason::corrupt);
  EXPECT_EQ(task.failed_stage, Stage::load);

  Task large = task_of({2, 3, 1, Depth::u8});
  large.encoded_input =
      encoded_input([](std::span<const std::byte>) -> Image { throw std::bad_alloc(); });
  EXPECT_FALSE(try_decode_input(large));
  EXPECT_EQ(large.error, "not enough host memory");
  EXPECT_EQ(large.reason, FailureReason::out_of_memory);
  EXPECT_EQ(large.failed_stage, Stage::compute);
}

TEST(BatchKey, has_all_that_tasks_of_a_batch_share) {
  Task task = task_of({40, 70, 3, Depth::u8});
  task.ranks = {{5}, {8}};
  const BatchKey plain = batch_key(task, 32);
  EXPECT_EQ(plain, (BatchKey{{96, 64}, {{5}, {8}}}));
  task.chroma_rank = RankPolicy(3);
  EXPECT_EQ(batch_key(task, 32), (BatchKey{{96, 64}, {{5}, {8}}, RankPolicy(3)}));
  task.chroma_rank.reset();
  task.encoding = OutputEncoding{.jpeg_quality = 90};
  EXPECT_EQ(batch_key(task, 32), (BatchKey{.shape = {96, 64},
                                           .ranks = {{5}, {8}},
                                           .encoding = OutputEncoding{.jpeg_quality = 90}}));
  Task floats = task_of({40, 70, 1, Depth::f32});
  floats.ranks = {{5}};
  floats.min_factor_rank = 9;
  floats.wants_spectrum = true;
  EXPECT_EQ(batch_key(floats, 1), (BatchKey{.shape = {70, 40},
                                            .ranks = {{5}, {9}},
                                            .wants_spectrum = true,
                                            .has_float_samples = true,
                                            .min_factor_rank = 9}));
}

TEST(BatchKey, has_the_largest_rank_of_an_output_and_of_chroma) {
  const RankPolicy psnr(PolicyKind::psnr, 30);
  BatchKey key{{64, 32}, {{5}, psnr, {100}}};
  EXPECT_EQ(key.max_rank(0), 5);
  EXPECT_EQ(key.max_rank(1), 32);
  EXPECT_EQ(key.max_rank(2), 32);
  EXPECT_TRUE(key.has_plane_ranks());
  key.ranks = {{5}, {8}};
  EXPECT_FALSE(key.has_plane_ranks());
  key.chroma_rank = RankPolicy(6);
  EXPECT_TRUE(key.has_plane_ranks());
  EXPECT_EQ(key.max_rank(0), 6);
  EXPECT_EQ(key.max_rank(1), 8);
}

std::vector<int> firsts_and_counts(const std::vector<ChannelGroup>& groups) {
  std::vector<int> numbers;
  for (const ChannelGroup& group : groups) {
    numbers.push_back(group.first);
    numbers.push_back(group.count);
  }
  return numbers;
}

TEST(ChannelGroup, has_all_channels_unless_chroma_has_its_own_rank) {
  EXPECT_THAT(firsts_and_counts(channel_groups(1, false)), ElementsAre(0, 1));
  EXPECT_THAT(firsts_and_counts(channel_groups(1, true)), ElementsAre(0, 1));
  EXPECT_THAT(firsts_and_counts(channel_groups(3, false)), ElementsAre(0, 3));
  EXPECT_THAT(firsts_and_counts(channel_groups(3, true)), ElementsAre(0, 1, 1, 2));
}

TEST(TaskRankRule, is_that_of_the_channel_group) {
  Task task = task_of({8, 6, 3, Depth::u8});
  task.ranks = {{4}, {PolicyKind::rmse, 2}};
  task.peak = 100;
  task.rounding_step = 0.5;
  EXPECT_EQ(make_rank_rule(task, 0, 2), (RankRule{RankRule::Kind::rank, 4, 3}));
  EXPECT_EQ(make_rank_rule(task, 1, 0).channels, 3);
  EXPECT_NEAR(make_rank_rule(task, 1, 0).limit, 8 * 6 * 3 * (4 - 0.25 / 12), 1e-9);
  task.chroma_rank = RankPolicy(PolicyKind::psnr, 20);
  EXPECT_EQ(make_rank_rule(task, 0, 0), (RankRule{RankRule::Kind::rank, 4, 1}));
  for (const int channel : {1, 2}) {
    const RankRule rule = make_rank_rule(task, 0, channel);
    EXPECT_EQ(rule.kind, RankRule::Kind::squared_error);
    EXPECT_EQ(rule.channels, 2);
    EXPECT_NEAR(rule.limit, 8 * 6 * 3 * (100.0 - 0.25 / 12), 1e-9);
    EXPECT_EQ(rank_policy(task, 0, channel), *task.chroma_rank);
  }
  EXPECT_EQ(rank_policy(task, 1, 0), task.ranks[1]);
}

TEST(DecodingRate, has_a_time_for_an_image_and_each_byte) {
  EXPECT_EQ((DecodingRate{.s_per_image = 2, .s_per_byte = 0.5}.s(10)), 7);
}

TEST(FloatScale, brings_the_largest_magnitude_to_24_bits) {
  const auto scale_of = [](std::vector<float> samples) {
    return float_scale({samples.data(), 1, int(samples.size()), std::ptrdiff_t(samples.size())});
  };
  EXPECT_EQ(scale_of({0, 0}), 1);
  EXPECT_EQ(scale_of({0.5F, 1, 0.25F}), 0x1p23);
  EXPECT_EQ(scale_of({-3, 1}), 0x1p22);
  EXPECT_EQ(scale_of({0x1p24F - 1, 5}), 1);
  EXPECT_EQ(scale_of({1, 0x1p24F}), 0.5);
  EXPECT_EQ(scale_of({0x1p-100F}), 0x1p123);
}

TEST(FloatScale, is_removed_from_all_levels_of_a_result) {
  PlaneResult result{.rank = 3,
                     .energy = 0.5,
                     .squared_norm = 64,
                     .residual = 32,
                     .squared_error = 16,
                     .loss_estimate_db = 0.001,
                     .loss_bound_db = 0.002,
                     .sigma1 = 8,
                     .sigma_threshold = 4};
  unscale(result, 4);
  EXPECT_EQ(result.squared_norm, 4);
  EXPECT_EQ(result.residual, 2);
  EXPECT_EQ(result.squared_error, 1);
  EXPECT_EQ(result.sigma1, 2);
  EXPECT_EQ(result.sigma_threshold, 1);
  EXPECT_EQ(result.rank, 3);
  EXPECT_EQ(result.energy, 0.5);
  EXPECT_EQ(result.loss_estimate_db, 0.001);
  EXPECT_EQ(result.loss_bound_db, 0.002);
}

}  // namespace
}  // namespace eckart::compute
