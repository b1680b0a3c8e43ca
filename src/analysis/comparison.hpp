#pragma once

#include <string>

#include "core/factors.hpp"
#include "core/image.hpp"
#include "core/peak_choice.hpp"

namespace eckart::analysis {

/// How two images of the same shape differ, over all samples of all channels.
struct Comparison {
  double squared_error = 0;  ///< sum of (a - b)^2, in levels^2
  double squared_norm = 0;   ///< sum of a^2, in levels^2
  double max_error = 0;      ///< the largest |a - b|, in levels
};

/// Requires the same shape.
Comparison compare(const Image& a, const Image& b);

/// max - min over all samples, in levels.
double sample_range(const Image& image);

/// The peak for this input image. `bits_stored`: of integer samples, if only the lower bits are
/// used, as in DICOM; 0: all. Throws ItemError(unsupported) for `dtype` of float samples, which
/// have no largest value.
Peak resolve_peak(const PeakChoice& choice, const Image& input, int bits_stored = 0);
/// The same for an image of which only max - min is known.
Peak resolve_peak(const PeakChoice& choice, Depth depth, double range);

/// Says for messages that samples of 16 bits use at most 14 of them, so that PSNR for the peak of
/// their type misleads. Empty if they use more, or have another depth.
std::string describe_unused_bits(const Image& image);

/// Minimum and maximum over all samples, and the mean of each channel.
SampleStatistics sample_statistics(const Image& image);

}  // namespace eckart::analysis
