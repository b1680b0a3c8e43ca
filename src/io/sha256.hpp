#pragma once

#include <filesystem>
#include <string>

namespace eckart::io {

/// Of a file's bytes, in hexadecimal digits as sha256sum prints them; empty where it cannot be
/// read.
std::string sha256_of(const std::filesystem::path& file);

}  // namespace eckart::io
