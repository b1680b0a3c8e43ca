#pragma once

#include <cstdint>
#include <string>

namespace eckart::text {

/// Formats a measured number for people: three significant digits, never an exponent.
std::string format_number(double value);

/// Formats the ratio of two measured numbers, each with some error, for a sentence: two significant
/// digits, never an exponent.
std::string format_ratio(double value);

/// Formats a rate of images: "351 images/s"; below one image per second, "2.50 s/image"; "?
/// images/s" if it is not a number.
std::string format_image_rate(double images_per_s);

/// Formats a number of bytes: "1.20 MB", with 1 MB = 10^6 bytes.
std::string format_megabytes(std::int64_t bytes);

}  // namespace eckart::text
