#pragma once

#include <cstddef>

namespace eckart::compute::cpu {

/// Entries of a matrix; int would not hold them.
inline std::size_t size(int rows, int cols) { return std::size_t(rows) * std::size_t(cols); }

}  // namespace eckart::compute::cpu
