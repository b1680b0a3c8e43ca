#include "text/format_number.hpp"

#include <spdlog/fmt/fmt.h>

#include <cmath>

#include "text/group_digits.hpp"

namespace eckart::text {

std::string format_number(double value) {
  if (!std::isfinite(value)) return "unbounded";
  const double size = std::abs(value);
  if (size >= 1e15) return value > 0 ? "more than 1e15" : "less than -1e15";
  if (size >= 99.95) return group_digits(std::llround(value));
  if (size < 1e-6) return "0";
  const int decimals = size >= 9.995    ? 1
                       : size >= 0.9995 ? 2
                                        : int(std::ceil(-std::log10(size))) + 2;
  return fmt::format("{:.{}f}", value, decimals);
}

std::string format_ratio(double value) {
  const double size = std::abs(value);
  if (!std::isfinite(value) || size >= 1e15 || size < 1e-6) return format_number(value);
  const double unit = std::pow(10, std::floor(std::log10(size)) - 1);  // of the second digit
  const double rounded = std::round(value / unit) * unit;
  if (std::abs(rounded) >= 9.95) return group_digits(std::llround(rounded));
  return fmt::format("{:.{}f}", rounded,
                     std::abs(rounded) >= 0.995 ? 1 : int(std::ceil(-std::log10(size))) + 1);
}

std::string format_image_rate(double images_per_s) {
  if (!(images_per_s >= 0) || !std::isfinite(images_per_s)) return "? images/s";
  if (images_per_s > 0 && images_per_s < 0.9995)
    return format_number(1 / images_per_s) + " s/image";
  return format_number(images_per_s) + " images/s";
}

std::string format_megabytes(std::int64_t bytes) {
  return format_number(1e-6 * double(bytes)) + " MB";
}

}  // namespace eckart::text
