#pragma once

#include <filesystem>

#include "io/input_file.hpp"

namespace eckart::io {

/// How the bytes of one file compare with the bytes of another.
enum class FileComparison {
  different,
  prefix,  ///< a proper prefix of the other file
  same,
};

/// Compares `file` with `whole`. Returns `different` if either is not a regular file (a link is not
/// followed) or cannot be read. Throws EnvironmentError if file descriptors or memory ran out.
FileComparison compare_files(const std::filesystem::path& file, const std::filesystem::path& whole);
/// Compares with an open file, whatever file is at its path now.
FileComparison compare_files(const std::filesystem::path& file, const InputFile& whole);

}  // namespace eckart::io
