#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace eckart::pipeline {

/// The bytes of an output's file, in up to three parts.
struct EncodedFile {
  std::vector<std::byte> head;             ///< the whole file, or what is before the pixels
  std::span<const std::byte> pixels = {};  ///< that the backend has encoded, in its memory
  std::vector<std::byte> tail = {};        ///< what is behind the pixels

  std::array<std::span<const std::byte>, 3> parts() const { return {head, pixels, tail}; }
  std::size_t size() const { return head.size() + pixels.size() + tail.size(); }
};

/// Returns the bytes of all parts. `storage` has them if there are several; both must stay.
std::span<const std::byte> joined(const EncodedFile& file, std::vector<std::byte>& storage);

}  // namespace eckart::pipeline
