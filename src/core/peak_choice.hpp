#pragma once

#include <string>
#include <string_view>

#include "core/enum_names.hpp"

namespace eckart {

/// Where the peak of PSNR and SSIM comes from.
enum class PeakSource {
  automatic,    ///< dtype for integers, range for floats, bits_stored for DICOM
  dtype,        ///< the largest value of the sample type: 255 or 65535
  range,        ///< max - min of the samples of the input
  number,       ///< a given number
  bits_stored,  ///< the largest value of the bits that are stored; chosen by `automatic` only
};

constexpr auto enum_names(PeakSource) {
  return std::to_array<EnumName<PeakSource>>({{PeakSource::automatic, "auto"},
                                              {PeakSource::dtype, "dtype"},
                                              {PeakSource::range, "range"},
                                              {PeakSource::number, "number"},
                                              {PeakSource::bits_stored, "bits_stored"}});
}

/// The setting `peak`.
struct PeakChoice {
  PeakSource source = PeakSource::automatic;
  double number = 0;  ///< in levels, > 0; for PeakSource::number

  friend bool operator==(const PeakChoice&, const PeakChoice&) = default;
};

/// The peak of one image; its source is not `automatic`.
struct Peak {
  double value = 0;  ///< in levels; 0 for PeakSource::range of a constant image
  PeakSource source = PeakSource::dtype;
};

/// Parses `auto`, `dtype`, `range` or a positive number. Throws std::invalid_argument that says
/// what was expected.
PeakChoice parse_peak(std::string_view text);

/// The text that parse_peak() parses to this choice.
std::string to_string(const PeakChoice& choice);

}  // namespace eckart
