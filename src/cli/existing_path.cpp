#include "cli/existing_path.hpp"

#include <system_error>

#include "core/error.hpp"
#include "text/printable.hpp"

namespace eckart::cli {

void check_exists(const std::filesystem::path& path, const std::string& hint) {
  std::error_code error;
  // If a folder of the path may not be searched, opening the path reports the reason.
  if (std::filesystem::symlink_status(path, error).type() != std::filesystem::file_type::not_found)
    return;
  throw FatalError(ExitCode::no_input,
                   text::printable(path.native()) + ": no such file or folder" + hint);
}

}  // namespace eckart::cli
