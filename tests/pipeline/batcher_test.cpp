#include "pipeline/batcher.hpp"

#include <gtest/gtest.h>

#include "tests/pipeline/fakes.hpp"

namespace eckart::test {
namespace {

using std::chrono::milliseconds;

constexpr int kPad = 32;
constexpr milliseconds kLinger{20};
const pipeline::Batcher::Time kStart{};

struct BackendOfBatcher {
  explicit BackendOfBatcher(int capacity) { backend.planes = capacity; }
  FakeBackend backend;
};
/// A batcher for a backend whose batches have `capacity` planes.
class TestBatcher : private BackendOfBatcher, public pipeline::Batcher {
 public:
  explicit TestBatcher(int capacity)
      : BackendOfBatcher(capacity), Batcher(backend, kPad, kLinger) {}
};

std::vector<int> numbers_in(const std::optional<pipeline::Batch>& batch) {
  std::vector<int> result;
  if (!batch) return result;
  for (const pipeline::ItemPtr& item : batch->items) result.push_back(number_of(*item));
  return result;
}

pipeline::ItemPtr gray(int number, int rows = 32, int cols = 32) {
  return make_item(number, {rows, cols, 1, Depth::u8});
}
pipeline::ItemPtr rgb(int number) { return make_item(number, {32, 32, 3, Depth::u8}); }

TEST(Batcher, returns_a_suspect_alone_and_at_once) {
  TestBatcher batcher(3);
  EXPECT_FALSE(batcher.add(gray(0), kStart));
  pipeline::ItemPtr suspect = gray(1);
  suspect->is_suspect = true;
  EXPECT_EQ(numbers_in(batcher.add(std::move(suspect), kStart)), std::vector{1});
  EXPECT_EQ(numbers_in(batcher.take_any()), std::vector{0});
}

TEST(Batcher, returns_a_batch_as_soon_as_it_is_full) {
  TestBatcher batcher(3);
  EXPECT_FALSE(batcher.add(gray(0), kStart));
  EXPECT_FALSE(batcher.add(gray(1), kStart));
  const auto batch = batcher.add(gray(2), kStart);
  EXPECT_EQ(numbers_in(batch), (std::vector{0, 1, 2}));
  EXPECT_EQ(batch->planes, 3);
  EXPECT_EQ(batch->key.shape, (compute::PaddedShape{32, 32}));
  EXPECT_FALSE(batcher.take_any());
}

TEST(Batcher, counts_a_color_image_as_three_planes) {
  TestBatcher batcher(6);
  EXPECT_FALSE(batcher.add(rgb(0), kStart));
  const auto batch = batcher.add(rgb(1), kStart);
  EXPECT_EQ(numbers_in(batch), (std::vector{0, 1}));
  EXPECT_EQ(batch->planes, 6);
}

TEST(Batcher, returns_a_batch_that_the_next_image_does_not_fit) {
  TestBatcher batcher(4);
  EXPECT_FALSE(batcher.add(rgb(0), kStart));
  EXPECT_EQ(numbers_in(batcher.add(rgb(1), kStart)), (std::vector{0}));
  EXPECT_EQ(numbers_in(batcher.take_any()), (std::vector{1}));
  EXPECT_FALSE(batcher.take_any());
}

TEST(Batcher, returns_an_oversized_image_as_its_own_batch) {
  TestBatcher batcher(2);
  EXPECT_EQ(numbers_in(batcher.add(rgb(0), kStart)), (std::vector{0}));
  EXPECT_FALSE(batcher.add(gray(1), kStart));
  EXPECT_EQ(numbers_in(batcher.add(rgb(2), kStart)), (std::vector{1}));
  const auto due = batcher.take_due(kStart + kLinger);
  EXPECT_EQ(numbers_in(due), (std::vector{2}));
  EXPECT_EQ(due->planes, 3);
}

/// Tests every order of eight images of one or three planes, at every capacity.
TEST(Batcher, fills_a_batch_as_far_as_its_capacity_and_no_further) {
  constexpr int kImages = 8;
  for (int capacity = 1; capacity <= 8; ++capacity) {
    for (unsigned colors = 0; colors < 1U << kImages; ++colors) {
      TestBatcher batcher(capacity);
      const auto planes_of = [&](int number) { return (colors >> number & 1U) != 0 ? 3 : 1; };
      std::vector<int> sent;
      int held = 0;  // planes
      const auto check = [&](const pipeline::Batch& batch, int next) {
        int planes = 0;
        for (const pipeline::ItemPtr& item : batch.items) {
          sent.push_back(number_of(*item));
          planes += planes_of(sent.back());
        }
        ASSERT_EQ(batch.planes, planes);
        ASSERT_EQ(batch.plane_capacity, capacity);
        ASSERT_TRUE(batch.items.size() == 1 || planes <= capacity);
        ASSERT_TRUE(next == kImages || planes + planes_of(next) > capacity);
        held -= planes;
      };
      for (int number = 0; number < kImages; ++number) {
        held += planes_of(number);
        const auto batch = batcher.add(planes_of(number) == 3 ? rgb(number) : gray(number), kStart);
        const bool last_is_in = batch && number_of(*batch->items.back()) == number;
        if (batch) check(*batch, last_is_in ? number + 1 : number);
      }
      while (const auto batch = batcher.take_any()) check(*batch, kImages);
      ASSERT_FALSE(HasFatalFailure());
      ASSERT_EQ(sent, numbers(kImages)) << "capacity " << capacity << ", colors " << colors;
      ASSERT_EQ(held, 0);
    }
  }
}

TEST(Batcher, separates_shapes) {
  TestBatcher batcher(2);
  EXPECT_FALSE(batcher.add(gray(0, 64, 32), kStart));
  EXPECT_FALSE(batcher.add(gray(1, 64, 64), kStart));
  EXPECT_EQ(numbers_in(batcher.add(gray(2, 64, 64), kStart)), (std::vector{1, 2}));
  EXPECT_EQ(numbers_in(batcher.add(gray(3, 64, 32), kStart)), (std::vector{0, 3}));
}

TEST(Batcher, separates_ranks) {
  const std::vector<RankPolicy> few{{5}}, more{{3}, {20}}, as_few{{5}};
  const auto wanted = [](int number, const std::vector<RankPolicy>& ranks) {
    pipeline::ItemPtr item = gray(number);
    item->task.ranks = ranks;
    return item;
  };
  TestBatcher batcher(2);
  EXPECT_FALSE(batcher.add(wanted(0, few), kStart));
  EXPECT_FALSE(batcher.add(wanted(1, more), kStart));
  const auto batch = batcher.add(wanted(2, as_few), kStart);
  EXPECT_EQ(numbers_in(batch), (std::vector{0, 2}));
  EXPECT_EQ(batch->key.ranks, few);
  const auto rest = batcher.take_any();
  EXPECT_EQ(numbers_in(rest), std::vector{1});
  EXPECT_EQ(rest->key.ranks, more);
}

TEST(Batcher, combines_shapes_with_equal_padding) {
  TestBatcher batcher(2);
  EXPECT_FALSE(batcher.add(gray(0, 33, 31), kStart));
  const auto batch = batcher.add(gray(1, 64, 1), kStart);
  EXPECT_EQ(numbers_in(batch), (std::vector{0, 1}));
  EXPECT_EQ(batch->key.shape, (compute::PaddedShape{64, 32}));
}

TEST(Batcher, combines_wide_and_tall_images) {
  TestBatcher batcher(2);
  EXPECT_FALSE(batcher.add(gray(0, 32, 96), kStart));
  EXPECT_EQ(numbers_in(batcher.add(gray(1, 96, 32), kStart)), (std::vector{0, 1}));
}

TEST(Batcher, returns_a_batch_when_its_oldest_image_is_due) {
  TestBatcher batcher(10);
  EXPECT_FALSE(batcher.next_deadline());
  EXPECT_FALSE(batcher.take_due(kStart + kLinger));
  batcher.add(gray(0), kStart);
  batcher.add(gray(1), kStart + milliseconds(15));
  EXPECT_EQ(batcher.next_deadline(), kStart + kLinger);
  EXPECT_FALSE(batcher.take_due(kStart + kLinger - milliseconds(1)));
  EXPECT_EQ(numbers_in(batcher.take_due(kStart + kLinger)), (std::vector{0, 1}));
  EXPECT_FALSE(batcher.next_deadline());
}

TEST(Batcher, returns_the_oldest_batch_first) {
  TestBatcher batcher(10);
  batcher.add(gray(0, 96, 96), kStart);
  batcher.add(gray(1, 32, 32), kStart + milliseconds(5));
  EXPECT_EQ(batcher.next_deadline(), kStart + kLinger);
  EXPECT_EQ(numbers_in(batcher.take_due(kStart + milliseconds(30))), (std::vector{0}));
  EXPECT_EQ(batcher.next_deadline(), kStart + milliseconds(25));
  EXPECT_EQ(numbers_in(batcher.take_due(kStart + milliseconds(30))), (std::vector{1}));
}

TEST(Batcher, restarts_the_linger_time_after_a_full_batch) {
  TestBatcher batcher(4);
  batcher.add(rgb(0), kStart);
  batcher.add(rgb(1), kStart + milliseconds(10));
  EXPECT_EQ(batcher.next_deadline(), kStart + milliseconds(10) + kLinger);
}

TEST(Batcher, flushes_everything) {
  TestBatcher batcher(10);
  for (int i = 0; i < 4; ++i) batcher.add(gray(i, 32 * (i % 3 + 1), 32), kStart);
  std::vector<int> all;
  while (const auto batch = batcher.take_any()) {
    for (const int number : numbers_in(batch)) all.push_back(number);
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, numbers(4));
}

}  // namespace
}  // namespace eckart::test
