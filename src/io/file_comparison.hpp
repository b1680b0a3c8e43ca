#pragma once

#include <filesystem>

#include "io/input_file.hpp"

namespace eckart::io {

/// What the bytes of a file are to those of another.
enum class FileComparison {
  different,
  beginning,  ///< the first of them, and fewer
  same,
};

/// What `file` is to `whole`. Different where either is no regular file (a link is none), or cannot
/// be read.
FileComparison compare_files(const std::filesystem::path& file, const std::filesystem::path& whole);
/// The same with an open file, whatever has its path by now.
FileComparison compare_files(const std::filesystem::path& file, const InputFile& whole);

}  // namespace eckart::io
