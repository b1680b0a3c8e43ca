#pragma once

#include <cstddef>
#include <span>

namespace eckart::codec {

/// Returns whether the bytes are an ICC profile: its size and its signature are right. ICC.1:2022,
/// 7.2.
bool is_icc_profile(std::span<const std::byte> profile);

/// Returns the number of channels of the colors that the profile describes: 1 for gray, 3 for RGB;
/// 0 for others.
int icc_channels(std::span<const std::byte> profile);

}  // namespace eckart::codec
