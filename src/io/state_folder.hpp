#pragma once

#include <filesystem>

#include "io/root_path.hpp"

namespace eckart::io {

/// Returns the path of OUT/.eckart, which is never a link: whoever may write to OUT could lead what
/// eckart writes and removes there to another folder. The links in the path of OUT are those of
/// now.
RootPath state_folder(const std::filesystem::path& output);

}  // namespace eckart::io
