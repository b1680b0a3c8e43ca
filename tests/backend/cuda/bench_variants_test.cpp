// Every way in which eckart bench computes on the GPU and copies, on small shapes. Also for
// compute-sanitizer.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/cuda/gpu_device.hpp"
#include "tests/backend/cuda/gpu_unavailable_message.hpp"

namespace eckart::bench {
namespace {

class BenchVariantTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string message = compute::cuda::gpu_unavailable_message(); !message.empty())
      GTEST_SKIP() << message;
    gpu_ = cuda::make_gpu();
  }

  void expect_right_kernels(Shape shape, std::size_t count) {
    for (const Precision precision : {Precision::float32, Precision::float64}) {
      shape.precision = precision;
      SCOPED_TRACE(std::string(to_string(precision)) + ", m = " + std::to_string(shape.m) +
                   ", n = " + std::to_string(shape.n) + ", k = " + std::to_string(shape.k));
      const std::vector<Array> operands = random_operands(shape, 7);
      const Reference reference(shape, operands);
      const std::unique_ptr<PreparedOperation> operation = gpu_->prepare(shape, operands);
      ASSERT_GE(operation->variants().size(), count);
      for (std::size_t i = 0; i < operation->variants().size(); ++i) {
        SCOPED_TRACE(operation->variants()[i].name);
        EXPECT_LE(reference.relative_error(operation->result(i).values), max_relative_error(shape));
        const CallTimes times = operation->run(i);
        EXPECT_GT(times.compute_s, 0);
        EXPECT_GE(times.total_s + kEventResolutionSeconds, times.copy_in_s + times.copy_out_s);
      }
    }
  }

  std::unique_ptr<Gpu> gpu_;
};

TEST_F(BenchVariantTest, multiplies_right) {
  for (const Operation operation : {Operation::reconstruct, Operation::multiply}) {
    for (const auto& [m, n, k] :
         {std::array{64, 64, 32}, {130, 33, 5}, {17, 150, 40}, {257, 129, 65}, {1, 1, 1}})
      expect_right_kernels({.operation = operation, .m = m, .n = n, .k = k}, 9);
  }
}

TEST_F(BenchVariantTest, transposes_and_multiplies_vectors_right) {
  for (const auto& [m, n] : {std::array{64, 64}, {70, 33}, {33, 300}, {1, 95}, {3, 1}}) {
    expect_right_kernels({.operation = Operation::transpose, .m = m, .n = n}, 5);
    expect_right_kernels({.operation = Operation::multiply_vector, .m = m, .n = n}, 5);
  }
}

TEST_F(BenchVariantTest, adds_right) {
  for (const int n : {1, 1000, 100003})
    expect_right_kernels({.operation = Operation::add, .n = n}, 2);
}

TEST_F(BenchVariantTest, reconstructs_batches_right_with_every_schedule) {
  for (const auto& [m, n, k] : {std::array{48, 40, 7}, {20, 132, 16}, {63, 44, 1}}) {
    const BatchShape shape{.images = 5, .m = m, .n = n, .k = k};
    for (const Schedule schedule :
         {Schedule::serial, Schedule::streams, Schedule::double_buffered, Schedule::batched}) {
      for (const HostMemory memory : {HostMemory::pinned, HostMemory::pageable}) {
        const std::unique_ptr<PreparedBatch> batch =
            gpu_->prepare_batch(shape, schedule, 3, memory);
        batch->clear();
        batch->run();
        for (int image = 0; image < shape.images; ++image)
          EXPECT_TRUE(are_right(batch->pixels(image),
                                reference_pixels(shape, random_factors(shape, image))))
              << shape.text() << ", schedule " << int(schedule) << ", image " << image;
      }
    }
  }
}

TEST_F(BenchVariantTest, reconstructs_pixels_and_their_errors_right) {
  for (const auto& [m, n, k] : {std::array{64, 64, 16}, {136, 40, 33}, {200, 72, 8}}) {
    const BatchShape shape{.images = 3, .m = m, .n = n, .k = k};
    const std::unique_ptr<PixelReconstruction> batch = gpu_->prepare_pixels(shape);
    ASSERT_GE(batch->variants().size(), 4U);
    for (std::size_t i = 0; i < batch->variants().size(); ++i) {
      const bool is_own_kernel = batch->variants()[i].kind == PixelVariant::Kind::one_kernel;
      EXPECT_EQ(batch->variants()[i].occupancy > 0, is_own_kernel);
      for (int image = 0; image < shape.images; ++image) {
        const ReconstructedPixels found = batch->result(i, image);
        SCOPED_TRACE(shape.text() + ", " + batch->variants()[i].name);
        const CallTimes times = batch->run(i);
        EXPECT_GT(times.compute_s, 0);
        EXPECT_GT(times.copy_in_s, 0);
        EXPECT_GT(times.copy_out_s, 0);
        EXPECT_GT(times.total_s, times.copy_in_s + times.copy_out_s);
        EXPECT_TRUE(are_right(found.pixels, reference_pixels(shape, random_factors(shape, image))));
        EXPECT_EQ(found.squared_error,
                  squared_difference(found.pixels, original_pixels(shape, image)));
      }
    }
  }
}

TEST_F(BenchVariantTest, copies_and_adds_vectors_of_the_host_right) {
  constexpr std::size_t kBytes = 100'004;
  for (const HostMemory memory : {HostMemory::pageable, HostMemory::pinned}) {
    for (const Direction direction :
         {Direction::to_device, Direction::from_device, Direction::both})
      EXPECT_GT(gpu_->copy(memory, direction, kBytes)(), 0);
  }
  for (const Allocation kind : {Allocation::pinned, Allocation::registered, Allocation::device})
    EXPECT_GT(gpu_->allocation(kind, kBytes)(), 0);
  for (const bool copies : {false, true})
    EXPECT_GT(gpu_->add_host_vectors(copies, kBytes / sizeof(float))(), 0)
        << "it throws if the sum is wrong";
}

}  // namespace
}  // namespace eckart::bench
