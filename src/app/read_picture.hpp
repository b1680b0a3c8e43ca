#pragma once

#include <cstdint>
#include <filesystem>

#include "core/image_format.hpp"
#include "core/picture.hpp"
#include "settings/settings.hpp"

namespace eckart::app {

/// A decoded and prepared image file.
struct InputPicture {
  Picture picture;
  ImageFormat format = ImageFormat::png;
  std::int64_t file_bytes = 0;
};

/// Decodes and prepares a file as a run with these settings does. Throws ItemError, and
/// EnvironmentError if file descriptors or memory ran out.
InputPicture read_picture(const std::filesystem::path& file, const settings::Settings& settings);

}  // namespace eckart::app
