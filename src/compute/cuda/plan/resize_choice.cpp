#include "compute/cuda/plan/resize_choice.hpp"

#include <algorithm>

namespace eckart::compute::cuda {
namespace {

// Of a core of an AMD EPYC (Zen 4).
constexpr double kCpuProductsPerSecond[] = {6e9, 4e9};  // samples of 8 and of 16 bits
// Of a GPU on PCIe 4: a thread of the host copies the pixels into pinned memory and back.
constexpr double kGpuSecondsPerImage = 100e-6;
constexpr double kGpuBytesPerSecond = 6e9;
constexpr double kGpuProductsPerSecond = 1e11;
/// The GPU must be faster by this factor, because it is also used for something else.
constexpr double kMinSpeedup = 1.5;

/// The average number of products for a sample of the result along a side.
double products_per_sample(int in, int out) {
  if (in == out) return 0;
  return std::min(6 * std::max(double(in) / out, 1.0) + 1, double(in));
}

}  // namespace

bool is_resized_faster_on_gpu(const ImageShape& shape, int rows, int cols) {
  if (is_float(shape.depth)) return false;
  ImageShape between = shape, result = shape;
  between.cols = result.cols = cols;
  result.rows = rows;
  const double products = double(between.samples()) * products_per_sample(shape.cols, cols) +
                          double(result.samples()) * products_per_sample(shape.rows, rows);
  const double cpu_s = products / kCpuProductsPerSecond[shape.depth == Depth::u16];
  const double gpu_s = kGpuSecondsPerImage + products / kGpuProductsPerSecond +
                       double(shape.bytes() + result.bytes()) / kGpuBytesPerSecond;
  return cpu_s > kMinSpeedup * gpu_s;
}

}  // namespace eckart::compute::cuda
