#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

namespace eckart::io {

struct ImageListing {
  std::vector<std::filesystem::path> files;
  bool is_complete = true;
};

/// Lists the files that make_source() yields for these inputs, in any order, without sorting whole
/// folders. Stops after `max` entries, and at a folder that cannot be read.
ImageListing list_images(std::span<const std::filesystem::path> inputs, std::size_t max);

}  // namespace eckart::io
