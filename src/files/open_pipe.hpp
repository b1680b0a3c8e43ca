#pragma once

#include <filesystem>
#include <string>

#include "files/file_descriptor.hpp"

namespace eckart::files {

/// Opens a pipe for writing. Returns no descriptor, with errno after an error: ENXIO if no process
/// reads the pipe. Without this, a program would wait for a reader.
FileDescriptor open_pipe(const std::filesystem::path& pipe);

/// Why a file or pipe cannot be opened for writing: the text of an errno value.
std::string open_error_text(const std::filesystem::path& file, int error);

}  // namespace eckart::files
