#include "synth/synth.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "synth/synth_scene.hpp"

namespace eckart::synth {
namespace {

using synth::Scene;

constexpr std::uint64_t kSceneStream = 0;
constexpr std::uint64_t kNoiseStream = 1;

void check(const SynthSpec& spec) {
  const auto require = [](bool is_valid, const std::string& what) {
    if (!is_valid) throw std::invalid_argument("invalid image specification: " + what);
  };
  require(spec.rows > 0 && spec.cols > 0, "rows and cols must be positive");
  require(spec.channels == 1 || spec.channels == 3, "channels must be 1 or 3");
  require(spec.noise_sigma >= 0 && std::isfinite(spec.noise_sigma), "noise must be 0 or more");
  if (spec.kind == SynthKind::low_rank) {
    const int max_rank = std::min(spec.rows, spec.cols);
    require(spec.rank >= 1 && spec.rank <= max_rank,
            "rank " + std::to_string(spec.rank) + " is not in 1.." + std::to_string(max_rank));
  }
}

/// A size x rank matrix of integers in 0 .. max_entry, of full column rank, with at most
/// max_nonzeros nonzeros per row. `rank` randomly chosen rows form a lower triangular matrix
/// without zeros on the diagonal.
std::vector<int> draw_factor(int size, int rank, int max_entry, int max_nonzeros, Random& random) {
  std::vector<int> order(std::size_t(size), 0);
  std::iota(order.begin(), order.end(), 0);
  for (int i = size - 1; i > 0; --i)
    std::swap(order[std::size_t(i)], order[std::size_t(random.uniform_int(i + 1))]);
  std::vector<int> factor(std::size_t(size) * std::size_t(rank), 0);
  for (int i = 0; i < size; ++i) {
    int* row = factor.data() + std::size_t(order[std::size_t(i)]) * std::size_t(rank);
    const int end = std::min(i + 1, rank);
    for (int j = std::max(0, end - max_nonzeros); j < end; ++j)
      row[j] = random.uniform_int(max_entry + 1);
    if (i < rank) row[i] = 1 + random.uniform_int(max_entry);
  }
  return factor;
}

/// A low-rank matrix U V^T, the sum of `rank` outer products of integer vectors. U and V have full
/// column rank, so its rank is exactly `rank`. No entry exceeds max_nonzeros * max_entry^2 <= peak,
/// so none is clamped. The final scale factor is an integer, so nothing is rounded.
std::vector<int> draw_low_rank(const SynthSpec& spec, Random& random) {
  const int max_level = peak(spec.depth);
  const int max_nonzeros = std::min(spec.rank, max_level);
  int max_entry = 1;
  while (max_nonzeros * (max_entry + 1) * (max_entry + 1) <= max_level) ++max_entry;
  const std::vector<int> u = draw_factor(spec.rows, spec.rank, max_entry, max_nonzeros, random);
  const std::vector<int> v = draw_factor(spec.cols, spec.rank, max_entry, max_nonzeros, random);
  const auto k = std::size_t(spec.rank);
  std::vector<int> product;
  product.reserve(std::size_t(spec.rows) * std::size_t(spec.cols));
  for (auto a = u.begin(); a != u.end(); a += spec.rank) {
    for (auto b = v.begin(); b != v.end(); b += spec.rank) {
      product.push_back(std::inner_product(a, a + std::ptrdiff_t(k), b, 0));
    }
  }
  const int scale = max_level / *std::max_element(product.begin(), product.end());
  for (int& entry : product) entry *= scale;
  return product;
}

void paint_constant(Scene& scene, Random& random, int max_level) {
  float level[3];
  for (float& channel : level)
    channel = float(1 + random.uniform_int(max_level)) / float(max_level);
  for (std::size_t i = 0; i < scene.samples.size(); ++i) {
    scene.samples[i] = level[i % std::size_t(scene.channels)];
  }
}

void paint_gradient(Scene& scene, Random& random) {
  for (int c = 0; c < scene.channels; ++c) {
    const double right = random.uniform(-1, 1), down = random.uniform(-1, 1);
    const double across = std::max(1, scene.cols - 1), along = std::max(1, scene.rows - 1);
    const double low = std::min(0.0, right) + std::min(0.0, down);
    const double range = std::abs(right) + std::abs(down);
    for (int row = 0; row < scene.rows; ++row) {
      for (int col = 0; col < scene.cols; ++col) {
        scene.pixel(row, col)[c] =
            float((right * (col / across) + down * (row / along) - low) / range);
      }
    }
  }
}

/// Low-rank images are converted from integers instead of painted.
void paint(Scene& scene, const SynthSpec& spec, Random& random) {
  switch (spec.kind) {
    case SynthKind::phantom:
      return synth::paint_phantom(scene, random);
    case SynthKind::texture:
      return synth::paint_texture(scene, random);
    case SynthKind::noise:
      return std::fill(scene.samples.begin(), scene.samples.end(), 0.5f);
    case SynthKind::constant:
      return paint_constant(scene, random, peak(spec.depth));
    case SynthKind::gradient:
      return paint_gradient(scene, random);
    case SynthKind::low_rank:
      break;
  }
  for (int c = 0; c < scene.channels; ++c) {
    const std::vector<int> levels = draw_low_rank(spec, random);
    for (std::size_t i = 0; i < levels.size(); ++i) {
      scene.samples[i * std::size_t(scene.channels) + std::size_t(c)] =
          float(levels[i]) / float(peak(spec.depth));
    }
  }
}

template <class T>
void quantize(const Scene& scene, double max_level, double sigma, Random& random, T* out) {
  for (const float sample : scene.samples) {
    double level = double(sample) * max_level;
    if (sigma > 0) level += sigma * random.normal();
    *out++ = T(std::lround(std::clamp(level, 0.0, max_level)));
  }
}

}  // namespace

std::string_view to_string(SynthKind kind) {
  switch (kind) {
    case SynthKind::phantom:
      return "phantom";
    case SynthKind::texture:
      return "texture";
    case SynthKind::low_rank:
      return "low-rank";
    case SynthKind::noise:
      return "noise";
    case SynthKind::constant:
      return "constant";
    case SynthKind::gradient:
      return "gradient";
  }
  return "";
}

Image synthesize(const SynthSpec& spec) {
  check(spec);
  Random scene_random(spec.seed, kSceneStream), noise_random(spec.seed, kNoiseStream);
  Scene scene(spec);
  paint(scene, spec, scene_random);

  const double max_level = peak(spec.depth);
  double sigma = spec.noise_sigma;
  if (spec.kind == SynthKind::noise && sigma == 0) sigma = max_level / 8;
  Image image({spec.rows, spec.cols, spec.channels, spec.depth});
  if (spec.depth == Depth::u8) {
    quantize(scene, max_level, sigma, noise_random, image.plane<std::uint8_t>(0).data);
  } else {
    quantize(scene, max_level, sigma, noise_random, image.plane<std::uint16_t>(0).data);
  }
  return image;
}

}  // namespace eckart::synth
