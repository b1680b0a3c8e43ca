#pragma once

#include <cstdint>

namespace eckart {

/// What an image may take: all but the time is known before anything is decoded.
struct ImageLimits {
  std::int64_t pixels = 268435456;  ///< rows x cols
  std::int64_t side = 65535;        ///< rows, and cols
  std::int64_t file_mb = 1024;      ///< MiB of the file
  std::int64_t decode_mb = 2300;    ///< MiB, while it is decoded: file, pixels, coefficients
  std::int64_t decode_s = 20;       ///< seconds of one core to decode it
};

}  // namespace eckart
