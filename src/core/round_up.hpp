#pragma once

namespace eckart {

/// The least multiple of `multiple` that is not below n >= 0.
template <class Integer>
constexpr Integer round_up(Integer n, Integer multiple) {
  return (n + multiple - 1) / multiple * multiple;
}

/// Rows and columns of planes are padded to a multiple of this, unless something else is asked for.
constexpr int kDefaultPadMultiple = 32;

}  // namespace eckart
