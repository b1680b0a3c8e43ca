#pragma once

#include <cstdint>
#include <string>

namespace eckart::capacity {

/// Each function throws std::invalid_argument with the expected format if `text` is invalid.
/// Parses a rate in images per second: 2M/day, 1.5M/h, 30k/min, 250/s.
double parse_rate(const std::string& text);
/// Parses a number of images: 500k, 2M, 1234.
double parse_count(const std::string& text);
/// Parses a time in seconds: 6h, 90min, 1.5d, 30s.
double parse_duration(const std::string& text);

}  // namespace eckart::capacity
