#include <algorithm>
#include <array>
#include <cmath>

#include "synth/synth_scene.hpp"

namespace eckart::synth {
namespace {

struct Ellipse {
  double intensity;     // added to pixels inside
  double a, b;          // semi-axes; the image, whatever its shape, is a square from -1 to 1
  double x, y;          // center, y up
  double cosine, sine;  // of the rotation, counterclockwise
};

constexpr double kCos18 = 0.951056516295153572;
constexpr double kSin18 = 0.309016994374947424;

// L. Shepp and B. Logan, 1974; contrast of P. Toft, "The Radon Transform", 1996, p. 201.
constexpr std::array<Ellipse, 10> kHead = {{
    {1.0, 0.69, 0.92, 0, 0, 1, 0},
    {-0.8, 0.6624, 0.874, 0, -0.0184, 1, 0},
    {-0.2, 0.11, 0.31, 0.22, 0, kCos18, -kSin18},
    {-0.2, 0.16, 0.41, -0.22, 0, kCos18, kSin18},
    {0.1, 0.21, 0.25, 0, 0.35, 1, 0},
    {0.1, 0.046, 0.046, 0, 0.1, 1, 0},
    {0.1, 0.046, 0.046, 0, -0.1, 1, 0},
    {0.1, 0.046, 0.023, -0.08, -0.605, 1, 0},
    {0.1, 0.023, 0.023, 0, -0.606, 1, 0},
    {0.1, 0.023, 0.046, 0.06, -0.605, 1, 0},
}};
constexpr std::size_t kSkullParts = 2;  // do not move relative to the head

void rotate(Ellipse& ellipse, double half_tangent) {
  const double t2 = half_tangent * half_tangent;
  const double c = (1 - t2) / (1 + t2), s = 2 * half_tangent / (1 + t2);
  const double cosine = ellipse.cosine * c - ellipse.sine * s;
  ellipse.sine = ellipse.sine * c + ellipse.cosine * s;
  ellipse.cosine = cosine;
}

void jitter_organ(Ellipse& ellipse, Random& random) {
  ellipse.intensity *= random.uniform(0.7, 1.3);
  ellipse.a *= random.uniform(0.8, 1.15);
  ellipse.b *= random.uniform(0.85, 1.1);
  ellipse.x += random.uniform(-0.03, 0.03);
  ellipse.y += random.uniform(-0.03, 0.03);
  rotate(ellipse, random.uniform(-0.06, 0.06));
}

std::array<Ellipse, 10> jittered_head(Random& random) {
  const double size = random.uniform(0.88, 1.0), half_tangent = random.uniform(-0.08, 0.08);
  const double dx = random.uniform(-0.05, 0.05), dy = random.uniform(-0.03, 0.03);
  std::array<Ellipse, 10> head = kHead;
  for (std::size_t i = 0; i < head.size(); ++i) {
    Ellipse& part = head[i];
    if (i >= kSkullParts) jitter_organ(part, random);
    Ellipse position{0, 0, 0, 0, 0, part.x, part.y};  // rotated like a direction
    rotate(position, half_tangent);
    rotate(part, half_tangent);
    part.a *= size;
    part.b *= size;
    part.x = position.cosine * size + dx;
    part.y = position.sine * size + dy;
  }
  return head;
}

/// Adds an ellipse with an edge one pixel wide.
void add(Scene& scene, const Ellipse& e, const std::array<float, 3>& intensity) {
  const double step_x = 2.0 / scene.cols, step_y = 2.0 / scene.rows;
  const double reach = std::max(e.a, e.b);
  const int first_row = std::max(0, int((1 - e.y - reach) / step_y) - 2);
  const int last_row = std::min(scene.rows - 1, int((1 - e.y + reach) / step_y) + 2);
  const int first_col = std::max(0, int((1 + e.x - reach) / step_x) - 2);
  const int last_col = std::min(scene.cols - 1, int((1 + e.x + reach) / step_x) + 2);
  for (int row = first_row; row <= last_row; ++row) {
    const double y = 1 - (row + 0.5) * step_y - e.y;
    float* pixel = scene.pixel(row, first_col);
    for (int col = first_col; col <= last_col; ++col, pixel += scene.channels) {
      const double x = (col + 0.5) * step_x - 1 - e.x;
      const double u = (x * e.cosine + y * e.sine) / e.a, v = (y * e.cosine - x * e.sine) / e.b;
      const double inside = 1 - u * u - v * v;
      // The gradient of `inside` per pixel, to convert it to a distance from the edge in pixels.
      const double slope_x = (u * e.cosine / e.a - v * e.sine / e.b) * step_x;
      const double slope_y = (u * e.sine / e.a + v * e.cosine / e.b) * step_y;
      const double slope = 2 * std::sqrt(slope_x * slope_x + slope_y * slope_y);
      if (2 * inside <= -slope) continue;
      const double cover = 2 * inside >= slope ? 1 : 0.5 + inside / slope;
      for (int c = 0; c < scene.channels; ++c) pixel[c] += float(cover) * intensity[std::size_t(c)];
    }
  }
}

}  // namespace

void paint_phantom(Scene& scene, Random& random) {
  const auto head = jittered_head(random);
  for (std::size_t i = 0; i < head.size(); ++i) {
    std::array<float, 3> intensity{};
    for (float& channel : intensity) {
      const double tint = scene.channels == 1 || i < kSkullParts ? 1 : random.uniform(0.5, 1.5);
      channel = float(head[i].intensity * tint);
    }
    add(scene, head[i], intensity);
  }
}

}  // namespace eckart::synth
