#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "synth/synth_scene.hpp"

namespace eckart::synth {
namespace {

constexpr double kMinRadius = 3;     // pixels
constexpr double kLayers = 5;        // mean number of discs over a pixel
constexpr double kRoughness = 0.05;  // amplitude of the coarsest octave of 1/f noise
constexpr double kGrain = 0.008;     // sigma of the sensor noise

using Color = std::array<float, 3>;

/// A random brightness with little saturation, as in photographs.
Color draw_color(Random& random) {
  const double brightness = 0.1 + 0.8 * (random.uniform() + random.uniform()) / 2;
  Color color;
  for (float& channel : color) channel = float(brightness + random.uniform(-0.1, 0.1));
  return color;
}

struct Disc {
  double x, y, radius;
  Color color;
  double shade_x, shade_y;  // increase of brightness from the center to the edge
};

/// Paints an opaque disc with an edge one pixel wide.
void paint_disc(Scene& scene, const Disc& disc) {
  const int first_row = std::max(0, int(disc.y - disc.radius) - 1);
  const int last_row = std::min(scene.rows - 1, int(disc.y + disc.radius) + 1);
  const int first_col = std::max(0, int(disc.x - disc.radius) - 1);
  const int last_col = std::min(scene.cols - 1, int(disc.x + disc.radius) + 1);
  for (int row = first_row; row <= last_row; ++row) {
    const double dy = row - disc.y;
    float* pixel = scene.pixel(row, first_col);
    for (int col = first_col; col <= last_col; ++col, pixel += scene.channels) {
      const double dx = col - disc.x;
      const double alpha = std::min(1.0, disc.radius + 0.5 - std::sqrt(dx * dx + dy * dy));
      if (alpha <= 0) continue;
      const auto shade = float((dx * disc.shade_x + dy * disc.shade_y) / disc.radius);
      for (int c = 0; c < scene.channels; ++c) {
        pixel[c] += float(alpha) * (disc.color[std::size_t(c)] + shade - pixel[c]);
      }
    }
  }
}

/// Dead leaves (A. Lee, D. Mumford and J. Huang, 2001): occluding discs have the statistics of
/// photographs. Radii r have the density r^-2. The density r^-3 of that paper is scale-invariant
/// but looks like gravel at these sizes.
void paint_dead_leaves(Scene& scene, Random& random) {
  const double largest = std::max(2 * kMinRadius, 0.35 * std::max(scene.rows, scene.cols));
  const double ratio = kMinRadius / largest;
  const double pixels = double(scene.rows) * scene.cols;
  double covered_area = 0;
  while (covered_area < kLayers * pixels) {
    Disc disc;
    disc.radius =
        kMinRadius / (1 - random.uniform() * (1 - ratio));  // inverse of the distribution function
    disc.x = random.uniform(-disc.radius, scene.cols + disc.radius);
    disc.y = random.uniform(-disc.radius, scene.rows + disc.radius);
    disc.color = draw_color(random);
    disc.shade_x = random.uniform(-0.06, 0.06);
    disc.shade_y = random.uniform(-0.06, 0.06);
    paint_disc(scene, disc);
    // The mean part of its area that is inside the image.
    covered_area += 3.14159 * disc.radius * disc.radius * pixels /
                    ((scene.cols + 2 * disc.radius) * (scene.rows + 2 * disc.radius));
  }
}

/// Adds smooth noise: random values on a grid with this spacing, interpolated by cubic steps.
void add_octave(Scene& scene, Random& random, int spacing, double amplitude) {
  const int nodes = scene.cols / spacing + 2;
  std::vector<float> above(std::size_t(nodes), 0.f), below(above);
  const auto draw = [&](std::vector<float>& line) {
    for (float& node : line) node = float(random.uniform(-amplitude, amplitude));
  };
  std::vector<float> steps(std::size_t(spacing), 0.f);
  for (int i = 0; i < spacing; ++i) {
    const double t = double(i) / spacing;
    steps[std::size_t(i)] = float(t * t * (3 - 2 * t));
  }
  draw(below);
  for (int row = 0; row < scene.rows; ++row) {
    if (row % spacing == 0) {
      above.swap(below);
      draw(below);
    }
    const float down = steps[std::size_t(row % spacing)];
    float* pixel = scene.pixel(row, 0);
    for (int col = 0, node = 0; col < scene.cols; ++node) {
      const auto n = std::size_t(node);
      const float left = above[n] + down * (below[n] - above[n]);
      const float right = above[n + 1] + down * (below[n + 1] - above[n + 1]);
      for (int i = 0; i < spacing && col < scene.cols; ++i, ++col, pixel += scene.channels) {
        const float value = left + steps[std::size_t(i)] * (right - left);
        for (int c = 0; c < scene.channels; ++c) pixel[c] += value;
      }
    }
  }
}

}  // namespace

void paint_texture(Scene& scene, Random& random) {
  std::fill(scene.samples.begin(), scene.samples.end(), 0.5f);
  paint_dead_leaves(scene, random);
  int spacing = 1;
  while (spacing < std::max(scene.rows, scene.cols) / 4) spacing *= 2;
  // An amplitude in proportion to the wavelength would give 1/f^2. About its square root gives a
  // rougher surface, similar to 1/f.
  for (double amplitude = kRoughness; spacing >= 2; spacing /= 2, amplitude *= 0.75) {
    add_octave(scene, random, spacing, amplitude);
  }
  for (float& sample : scene.samples) sample += float(kGrain * random.normal());
}

}  // namespace eckart::synth
