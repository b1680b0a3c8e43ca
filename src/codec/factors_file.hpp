#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/factors.hpp"

namespace eckart::codec {

/// File name extension of files of factors, without the dot.
constexpr const char* kFactorsExtension = "npz";

/// Returns a .npz file with the factors of an image of this shape; docs/reference/output-files.md
/// describes its arrays. `color` says what the matrices are; of luma, the image is a gray one.
/// Matrices with a smaller rank than others are padded with zeros. Requires another type than
/// `none`, and the same shape of all matrices. Throws ItemError(not_encodable) above 4 GiB.
std::vector<std::byte> encode_factors(const ImageShape& shape, ColorMode color,
                                      const SampleStatistics& samples,
                                      std::span<const Factors> matrices, FactorType type);

/// Reads a file of encode_factors(). Throws ItemError(corrupt or unsupported).
ImageFactors decode_factors(std::span<const std::byte> file);

}  // namespace eckart::codec
