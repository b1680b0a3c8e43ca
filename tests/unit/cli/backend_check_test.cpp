#include "cli/backend_check.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>

namespace eckart::cli {
namespace {

/// A task whose output is 10 levels above its black input.
compute::Task make_task() {
  compute::Task task;
  task.input = Image({256, 256, 1, Depth::u8});
  std::fill_n(task.input.data(), task.input.bytes(), std::byte(0));
  task.outputs.emplace_back(task.input.shape());
  std::fill_n(task.outputs[0].data(), task.input.bytes(), std::byte(10));
  return task;
}

TEST(MaxDifference, counts_the_samples_that_differ_from_the_reference) {
  const compute::Task reference = make_task();
  compute::Task task = make_task();
  MaxDifference difference;
  difference.add(task, reference);
  EXPECT_EQ(difference.samples, 0);
  EXPECT_EQ(difference.levels, 0);
  EXPECT_EQ(difference.loss_db, 0);

  for (const std::size_t i : {0U, 777U, 65535U}) task.outputs[0].data()[i] = std::byte(11);
  difference.add(task, reference);
  difference.add(reference, reference);  // of another lane
  EXPECT_EQ(difference.samples, 3);
  EXPECT_EQ(difference.levels, 1);
  EXPECT_GT(difference.loss_db, 0);
  EXPECT_TRUE(difference.is_acceptable());

  task.outputs[0].data()[777] = std::byte(8);
  difference.add(task, reference);
  EXPECT_EQ(difference.levels, 2);
  EXPECT_FALSE(difference.is_acceptable());
}

}  // namespace
}  // namespace eckart::cli
