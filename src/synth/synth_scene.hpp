#pragma once

#include <cstddef>
#include <vector>

#include "synth/random.hpp"
#include "synth/synth.hpp"

namespace eckart::synth {

/// The content of an image before noise and rounding: rows x cols pixels, channels interleaved. 0
/// is black and 1 is peak; values slightly outside are allowed.
struct Scene {
  explicit Scene(const SynthSpec& spec)
      : rows(spec.rows),
        cols(spec.cols),
        channels(spec.channels),
        samples(std::size_t(rows) * std::size_t(cols) * std::size_t(channels)) {}

  float* pixel(int row, int col) {
    return samples.data() +
           (std::size_t(row) * std::size_t(cols) + std::size_t(col)) * std::size_t(channels);
  }

  int rows, cols, channels;
  std::vector<float> samples;
};

/// Both paint on a black scene.
void paint_phantom(Scene& scene, Random& random);
void paint_texture(Scene& scene, Random& random);

}  // namespace eckart::synth
