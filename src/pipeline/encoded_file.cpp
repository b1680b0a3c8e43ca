#include "pipeline/encoded_file.hpp"

namespace eckart::pipeline {

std::span<const std::byte> joined(const EncodedFile& file, std::vector<std::byte>& storage) {
  if (file.pixels.empty() && file.tail.empty()) return file.head;
  storage.clear();
  storage.reserve(file.size());
  for (const std::span<const std::byte>& part : file.parts())
    storage.insert(storage.end(), part.begin(), part.end());
  return storage;
}

}  // namespace eckart::pipeline
