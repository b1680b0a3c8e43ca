// Tests the kernel that resizes images, against the CPU: the pixels are identical.
#include <cstring>

#include "compute/cuda/kernels/resize.hpp"
#include "compute/cuda/layout/packing.hpp"
#include "compute/cuda/layout/resize_plan.hpp"
#include "preparation/resize.hpp"
#include "tests/backend/cuda/kernel_fixture.hpp"
#include "tests/unit/codec/test_images.hpp"

namespace eckart::compute::cuda {
namespace {

/// An image and its new size.
struct Resize {
  ImageShape shape;
  int rows, cols;
};

class ResizeKernelTest : public KernelTest {
 protected:
  /// Resizes images with two launches, and expects the pixels of the CPU.
  static void expect_pixels_of_the_cpu(const std::vector<Resize>& resizes) {
    FilterTables filters;
    std::vector<FilterPass> rows, columns;
    std::vector<std::byte> input;
    std::size_t between_bytes = 0, output_bytes = 0;
    std::int64_t max_between = 0, max_output = 0;
    for (const Resize& resize : resizes) {
      const auto [height, width, channels, depth] = resize.shape;
      const ImageShape between{height, resize.cols, channels, depth},
          output{resize.rows, resize.cols, channels, depth};
      FilterPass& rows_pass = rows.emplace_back(row_pass(resize.shape, resize.cols));
      rows_pass.in_bytes = std::int64_t(input.size());
      rows_pass.out_bytes = std::int64_t(between_bytes);
      filters.append(preparation::lanczos_weights(width, resize.cols, depth), rows_pass);
      max_between = std::max(max_between, rows_pass.out_samples());
      FilterPass& columns_pass = columns.emplace_back(column_pass(between, resize.rows));
      columns_pass.in_bytes = std::int64_t(between_bytes);
      columns_pass.out_bytes = std::int64_t(output_bytes);
      filters.append(preparation::lanczos_weights(height, resize.rows, depth), columns_pass);
      max_output = std::max(max_output, columns_pass.out_samples());
      const Image image = test::noise_image(resize.shape);
      input.insert(input.end(), image.data(), image.data() + image.bytes());
      input.resize(std::size_t(rows.back().in_bytes) + packed_bytes(resize.shape));
      between_bytes += packed_bytes(between);
      output_bytes += packed_bytes(output);
    }
    const DeviceArray<std::byte> in(input), middle(between_bytes);
    const DeviceArray<std::byte> out{std::vector<std::byte>(output_bytes)};  // also between images
    const DeviceArray<FilterPass> row_passes(rows), column_passes(columns);
    const DeviceArray<FilterWindow> windows(filters.windows);
    const DeviceArray<std::int32_t> weights(filters.weights);
    on_stream([&](cudaStream_t stream) {
      const int count = int(resizes.size());
      filter_side(in.get(), row_passes.get(), count, max_between, windows.get(), weights.get(),
                  middle.get(), stream);
      filter_side(middle.get(), column_passes.get(), count, max_output, windows.get(),
                  weights.get(), out.get(), stream);
    });
    const std::vector<std::byte> found = out.copy_to_host();
    preparation::WeightCache cache;
    for (std::size_t i = 0; i < resizes.size(); ++i) {
      const Image expected = preparation::resize(test::noise_image(resizes[i].shape),
                                                 resizes[i].rows, resizes[i].cols, cache);
      EXPECT_EQ(
          std::memcmp(&found[std::size_t(columns[i].out_bytes)], expected.data(), expected.bytes()),
          0)
          << "image " << i;
    }
  }
};

TEST_F(ResizeKernelTest, makes_the_pixels_of_the_cpu) {
  expect_pixels_of_the_cpu({{{208, 176, 1, Depth::u8}, 256, 256},
                            {{208, 176, 1, Depth::u16}, 256, 256},
                            {{77, 131, 3, Depth::u8}, 40, 41},
                            {{77, 131, 3, Depth::u16}, 40, 41},
                            {{1, 1, 3, Depth::u8}, 9, 7},
                            {{500, 3, 1, Depth::u16}, 1, 90},
                            {{33, 64, 3, Depth::u8}, 33, 20}});
}

/// With more samples than one wave of blocks has threads.
TEST_F(ResizeKernelTest, resizes_a_large_image) {
  expect_pixels_of_the_cpu({{{1500, 1200, 3, Depth::u8}, 1400, 1300}});
}

}  // namespace
}  // namespace eckart::compute::cuda
