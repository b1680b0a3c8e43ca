#pragma once

// Image files for the benchmarks of codecs.
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "codec/codec.hpp"

namespace eckart::codec {

using File = std::vector<std::byte>;

inline File read_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(stream), {});
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// The image files of a folder, in the order of their names.
inline std::vector<File> read_image_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (is_image_file_name(entry.path().filename().string())) paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  std::vector<File> files;
  for (const std::filesystem::path& path : paths) files.push_back(read_file(path));
  return files;
}

}  // namespace eckart::codec
