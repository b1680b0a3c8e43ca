#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/image.hpp"

namespace eckart::synth {

enum class SynthKind {
  phantom,   ///< head of Shepp and Logan with the contrast of Toft; the seed moves, rotates and
             ///< scales it
  texture,   ///< similar to a photograph: occluding objects and 1/f texture; singular values decay
             ///< slowly
  low_rank,  ///< integer matrix of exactly rank `rank` in each channel, if noise_sigma is 0
  noise,     ///< Gaussian noise around mid-gray; its sigma is noise_sigma, or peak / 8 if that is 0
  constant,  ///< one level per channel, never 0
  gradient,  ///< from 0 to peak along one direction
};
inline constexpr std::array kSynthKinds = {SynthKind::phantom,  SynthKind::texture,
                                           SynthKind::low_rank, SynthKind::noise,
                                           SynthKind::constant, SynthKind::gradient};
/// The name on the command line, such as "low-rank".
std::string_view to_string(SynthKind kind);

struct SynthSpec {
  SynthKind kind = SynthKind::phantom;
  int rows = 256;
  int cols = 256;
  int channels = 1;  ///< 1 or 3
  Depth depth = Depth::u8;
  int rank = 20;           ///< for low_rank: 1 .. min(rows, cols)
  double noise_sigma = 0;  ///< in levels; added before rounding and clamping
  std::uint64_t seed = 0;
};

/// Creates a test image. The same spec gives the same bytes on every platform. Noise has its own
/// random stream: the same seed without noise gives the same scene. Throws std::invalid_argument if
/// a value is out of its range.
Image synthesize(const SynthSpec& spec);

}  // namespace eckart::synth
