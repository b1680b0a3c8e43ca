#pragma once

#include <filesystem>
#include <string>

namespace eckart::cli {

/// Throws FatalError(no_input) if there is no file or folder, with `hint` at the end of the
/// message. A link whose target is missing exists: the run reports it.
void check_exists(const std::filesystem::path& path, const std::string& hint = "");

/// Throws FatalError(usage) if the file that `flag` names has the name of an image: a mistake would
/// overwrite it.
void check_not_image(const std::string& flag, const std::filesystem::path& file);

}  // namespace eckart::cli
