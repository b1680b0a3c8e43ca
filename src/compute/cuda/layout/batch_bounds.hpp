#pragma once

#include <cstddef>
#include <stdexcept>

namespace eckart::compute::cuda {

/// Throws std::logic_error if an image was planned that does not fit.
inline void require_fits(bool fits) {
  if (!fits) throw std::logic_error("an image does not fit into its batch");
}

/// Whether `size` bytes from `offset` on end at `end` or before.
constexpr bool is_within(std::size_t offset, std::size_t size, std::size_t end) {
  return size <= end && offset <= end - size;
}

}  // namespace eckart::compute::cuda
