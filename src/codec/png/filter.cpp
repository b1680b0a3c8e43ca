#include "codec/png/filter.hpp"

namespace eckart::codec::png {
namespace {

template <class Predict>
void write_residuals(const Row& row, std::uint8_t* __restrict to, const Predict& predict) {
  const std::uint8_t* const bytes = row.bytes;
  const std::uint8_t* const above = row.above;
  const std::size_t size = row.size, distance = row.pixel_bytes;
  for (std::size_t i = 0; i < distance; ++i)
    to[i] = std::uint8_t(bytes[i] - predict(0, above[i], 0));
  for (std::size_t i = distance; i < size; ++i)
    to[i] = std::uint8_t(bytes[i] - predict(bytes[i - distance], above[i], above[i - distance]));
}

}  // namespace

void filter_row(const Row& row, Filter filter, std::uint8_t* to) {
  switch (filter) {
    case Filter::none:
      return write_residuals(row, to, [](int, int, int) { return 0; });
    case Filter::sub:
      return write_residuals(row, to, [](int left, int, int) { return left; });
    case Filter::up:
      return write_residuals(row, to, [](int, int above, int) { return above; });
    case Filter::average:
      return write_residuals(row, to, [](int left, int above, int) { return (left + above) / 2; });
    case Filter::paeth:
      return write_residuals(row, to, predict_paeth);
  }
}

}  // namespace eckart::codec::png
