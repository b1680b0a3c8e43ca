#pragma once

#include <filesystem>

namespace eckart::pipeline {

/// Whether both files may be the same output, made with the same settings by two processes that do
/// not know of each other. Their bytes may differ: on a GPU they depend on the batch, and a CPU
/// rounds differently. Images: the same shape and depth, and a PSNR of at least 40 dB for a peak
/// that is the range of the samples; other ranks may be that close, too. Factors: the same shapes,
/// and singular values that differ by at most 1 % of the largest. False if a file cannot be read or
/// decoded, within the usual ImageLimits. Throws EnvironmentError.
bool are_equal_outputs(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace eckart::pipeline
