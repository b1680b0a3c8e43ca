#pragma once

#include <cstdint>

namespace eckart {

/// Limits for one image. All limits except `decode_s` are checked before decoding starts.
struct ImageLimits {
  std::int64_t pixels = 268435456;  ///< rows x cols
  std::int64_t side = 65535;        ///< rows and cols, each
  std::int64_t file_mb = 1024;      ///< size of the file in MiB
  std::int64_t decode_mb = 2300;    ///< memory during decoding in MiB: file, pixels, coefficients
  std::int64_t decode_s = 20;       ///< core time for decoding in seconds
};

}  // namespace eckart
