#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "codec/codec.hpp"

namespace eckart::compute::cuda::bench {

/// The images in a folder. Throws std::invalid_argument if there are none.
inline std::vector<Image> read_images(const std::string& folder) {
  std::vector<Image> images;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream stream(entry.path(), std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(stream), {});
    const auto file = std::as_bytes(std::span(text));
    images.push_back(codec::detect_codec(file).decode(file, {}).pixels);
  }
  if (images.empty()) throw std::invalid_argument("no images in " + folder);
  return images;
}

}  // namespace eckart::compute::cuda::bench
