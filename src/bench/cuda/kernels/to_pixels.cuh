#pragma once

namespace eckart::bench::cuda {

/// Rounds and clamps values to 8 bits. Each thread converts four neighbors, so that it writes a
/// whole word. `count` is the number of groups of four.
__global__ void to_pixels(const float4* values, uchar4* pixels, int count) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  const auto pixel = [](float value) {
    return (unsigned char)(fminf(fmaxf(rintf(value), 0.0f), 255.0f));
  };
  const float4 v = values[i];
  pixels[i] = {pixel(v.x), pixel(v.y), pixel(v.z), pixel(v.w)};
}

}  // namespace eckart::bench::cuda
