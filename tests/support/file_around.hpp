#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "codec/codec.hpp"

namespace eckart::test {

/// The file of pixels that a backend has encoded.
inline std::vector<std::byte> file_around(std::span<const std::byte> pixels,
                                          const codec::HeadAndTail& ends) {
  std::vector<std::byte> file = ends.head;
  file.insert(file.end(), pixels.begin(), pixels.end());
  file.insert(file.end(), ends.tail.begin(), ends.tail.end());
  return file;
}

}  // namespace eckart::test
