#pragma once

#include "bench/cuda/pixel_errors.hpp"

namespace eckart::bench::cuda {

constexpr int kErrorThreads = 256;
constexpr int kErrorQuads = 4;  // groups of four neighbors that a thread converts

/// Four neighbors, which are read or written at once.
template <class T>
struct alignas(4 * sizeof(T)) PixelQuad {
  T at[4];
};

/// Rounds and clamps the values of images to 8 bits, and compares them with the original pixels.
/// Blocks in y are images of `quads` groups of four. Each block writes one PixelErrors.
template <class Real>
__global__ void pixels_and_errors(const PixelQuad<Real>* values,
                                  const PixelQuad<unsigned char>* originals,
                                  PixelQuad<unsigned char>* pixels, PixelErrors* errors,
                                  int quads) {
  const int thread = int(threadIdx.x);
  const long long image = (long long)(blockIdx.y) * quads;
  unsigned squared_norm = 0, squared_error = 0;  // of 16 pixels: below 2^20
  Real residual = 0;
  for (int q = 0; q < kErrorQuads; ++q) {
    const int i = (int(blockIdx.x) * kErrorQuads + q) * kErrorThreads + thread;
    if (i >= quads) break;
    const PixelQuad<Real> exact = values[image + i];
    const PixelQuad<unsigned char> original = originals[image + i];
    PixelQuad<unsigned char> rounded;
    for (int e = 0; e < 4; ++e) {
      const Real clamped = exact.at[e] < 0 ? 0 : exact.at[e] > 255 ? 255 : exact.at[e];
      const int before = original.at[e], after = int(rint(clamped));
      const Real difference = exact.at[e] - Real(before);
      rounded.at[e] = (unsigned char)(after);
      squared_norm += unsigned(before * before);
      squared_error += unsigned((after - before) * (after - before));
      residual += difference * difference;
    }
    pixels[image + i] = rounded;
  }

  // Each warp adds its sums by shuffles, then the first thread adds those of the warps.
  constexpr int kWarp = 32;
  double sums[3] = {double(squared_norm), double(squared_error), double(residual)};
  __shared__ double of_warp[3][kErrorThreads / kWarp];
  for (int s = 0; s < 3; ++s) {
    for (int distance = kWarp / 2; distance > 0; distance /= 2)
      sums[s] += __shfl_down_sync(0xffffffffU, sums[s], distance);
    if (thread % kWarp == 0) of_warp[s][thread / kWarp] = sums[s];
  }
  __syncthreads();
  if (thread != 0) return;
  for (int warp = 1; warp < kErrorThreads / kWarp; ++warp) {
    for (int s = 0; s < 3; ++s) sums[s] += of_warp[s][warp];
  }
  errors[blockIdx.y * gridDim.x + blockIdx.x] = {sums[0], sums[1], sums[2]};
}

}  // namespace eckart::bench::cuda
