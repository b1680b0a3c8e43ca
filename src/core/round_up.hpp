#pragma once

namespace eckart {

/// The smallest multiple of `multiple` that is at least n. Requires n >= 0.
template <class Integer>
constexpr Integer round_up(Integer n, Integer multiple) {
  return (n + multiple - 1) / multiple * multiple;
}

/// By default, rows and columns of planes are padded to a multiple of this.
constexpr int kDefaultPadMultiple = 32;

}  // namespace eckart
