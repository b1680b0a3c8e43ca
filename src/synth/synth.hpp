#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/image.hpp"

namespace eckart {

enum class SynthKind {
  phantom,   ///< Shepp and Logan's head with Toft's contrast; every seed moves, turns and scales it
  texture,   ///< like a photograph: occluding objects and 1/f texture; singular values fall slowly
  low_rank,  ///< each channel's integer matrix has exactly rank `rank`, while noise_sigma is 0
  noise,     ///< Gaussian around mid-gray, of noise_sigma, or of peak / 8 where that is 0
  constant,  ///< one level a channel, never 0
  gradient,  ///< from 0 to peak along one direction
};
inline constexpr std::array kSynthKinds = {SynthKind::phantom,  SynthKind::texture,
                                           SynthKind::low_rank, SynthKind::noise,
                                           SynthKind::constant, SynthKind::gradient};
/// As the command line has it: "low-rank".
std::string_view to_string(SynthKind kind);

struct SynthSpec {
  SynthKind kind = SynthKind::phantom;
  int rows = 256;
  int cols = 256;
  int channels = 1;  ///< 1 or 3
  Depth depth = Depth::u8;
  int rank = 20;  ///< of low_rank: 1 .. min(rows, cols)
  double noise_sigma =
      0;  ///< in levels of the sample; added before rounding, then clamped to 0 .. peak
  std::uint64_t seed = 0;
};

/// A test image: the same spec gives the same bytes on every platform. Noise has a stream of its
/// own: without it the same seed gives the same scene. Throws std::invalid_argument for a spec out
/// of the ranges above.
Image synthesize(const SynthSpec& spec);

}  // namespace eckart
