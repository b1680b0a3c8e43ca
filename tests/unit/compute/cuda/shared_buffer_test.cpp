#include "compute/cuda/layout/shared_buffer.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <utility>
#include <vector>

namespace eckart::compute::cuda {
namespace {

/// As GrowingBuffer, in ordinary memory.
class TestBuffer {
 public:
  void reserve(std::size_t bytes) {
    if (bytes > memory_.size()) memory_ = std::vector<std::byte>(bytes);
  }
  template <class T>
  T* as() {
    return reinterpret_cast<T*>(memory_.data());
  }

 private:
  std::vector<std::byte> memory_;
};
using Buffer = SharedBuffer<TestBuffer>;

TEST(SharedBuffer, uses_the_same_memory_for_batches_that_keep_nothing) {
  Buffer buffer;
  buffer.begin(100);
  const std::byte* const memory = buffer.as();
  for (int batch = 0; batch < 3; ++batch) {
    buffer.begin(50);
    EXPECT_EQ(buffer.as(), memory);
  }
}

TEST(SharedBuffer, leaves_the_memory_that_an_output_keeps_to_it) {
  Buffer buffer;
  buffer.begin(10);
  *buffer.as<int>() = 1;
  const int* const first = buffer.as<int>();
  const std::shared_ptr<const void> kept = buffer.share();
  ASSERT_TRUE(kept);
  for (int batch = 2; batch < 5; ++batch) {
    buffer.begin(1000);
    *buffer.as<int>() = batch;
    EXPECT_EQ(*first, 1);
  }
}

TEST(SharedBuffer, shares_nothing_while_an_earlier_batch_has_the_other_memory) {
  Buffer buffer;
  buffer.begin(10);
  std::shared_ptr<const void> first = buffer.share();
  buffer.begin(10);
  EXPECT_FALSE(buffer.share());
  first.reset();
  const std::shared_ptr<const void> second = buffer.share();
  EXPECT_TRUE(second);
  const std::byte* const memory = buffer.as();
  buffer.begin(10);
  EXPECT_NE(buffer.as(), memory);
}

TEST(SharedBuffer, shares_the_memory_of_a_batch_with_all_its_outputs) {
  Buffer buffer;
  buffer.begin(10);
  std::shared_ptr<const void> one = buffer.share(), two = buffer.share();
  const std::byte* const memory = buffer.as();
  one.reset();
  buffer.begin(10);
  EXPECT_NE(buffer.as(), memory);
  two.reset();
  const std::shared_ptr<const void> next = buffer.share();
  buffer.begin(10);
  EXPECT_EQ(buffer.as(), memory);
}

TEST(SharedBuffer, reuses_memory_after_another_thread_has_read_it) {
  Buffer buffer;
  std::vector<std::thread> readers;
  for (int batch = 0; batch < 200; ++batch) {
    buffer.begin(sizeof(int));
    *buffer.as<int>() = batch;
    if (std::shared_ptr<const void> kept = buffer.share()) {
      readers.emplace_back([kept = std::move(kept), from = buffer.as<int>(), batch]() mutable {
        EXPECT_EQ(*from, batch);
        kept.reset();
      });
    }
  }
  for (std::thread& reader : readers) reader.join();
}

}  // namespace
}  // namespace eckart::compute::cuda
