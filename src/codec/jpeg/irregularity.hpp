#pragma once

#include <array>
#include <cstdint>

#include "core/enum_names.hpp"

namespace eckart::codec::jpeg {

/// Why this decoder does not decode a file. It is not an error: libjpeg decodes these files, and
/// its result counts. Kernels write this as well.
enum class Irregularity : std::uint32_t {
  none,
  // In the segments before the scan.
  segments,          ///< truncated, with bytes between them, or of a marker that is not expected
  process,           ///< progressive, arithmetic-coded, lossless or hierarchical
  frame,             ///< other than 8 bits; sizes, components or sampling factors not supported
  color_space,       ///< neither gray nor YCbCr
  restart_interval,  ///< has restart markers
  scan,              ///< not one scan with all components and coefficients
  tables,            ///< a table is missing or invalid
  // In the scan.
  end,         ///< a marker other than end-of-image in the scan or after it, or none
  code,        ///< a code that its Huffman table does not have
  data_ended,  ///< fewer bits than needed
  data_left,   ///< a byte or more is left
  run,         ///< a run of zeros beyond the end of its block
  value,       ///< a coefficient or sample beyond what an encoder writes
};

constexpr auto enum_names(Irregularity /*unused*/) {
  using enum Irregularity;
  return std::to_array<EnumName<Irregularity>>({
      {none, "none"},
      {segments, "unexpected segments"},
      {process, "not baseline"},
      {frame, "size, bits or sampling"},
      {color_space, "color space"},
      {restart_interval, "restart markers"},
      {scan, "several scans"},
      {tables, "missing or invalid table"},
      {end, "no end-of-image marker after the scan"},
      {code, "invalid code"},
      {data_ended, "data ended early"},
      {data_left, "data left after the last block"},
      {run, "run beyond its block"},
      {value, "value out of range"},
  });
}

}  // namespace eckart::codec::jpeg
