#include "cli/existing_path.hpp"

#include <system_error>

#include "core/error.hpp"
#include "text/printable.hpp"

namespace eckart::cli {

void check_exists(const std::filesystem::path& path, const std::string& hint) {
  std::error_code error;
  const bool is_missing =
      std::filesystem::symlink_status(path, error).type() == std::filesystem::file_type::not_found;
  // If a folder of the path may not be searched, opening the path reports the reason.
  if (!is_missing && (!error || error == std::errc::permission_denied)) return;
  throw FatalError(ExitCode::no_input,
                   text::printable(path.native()) + ": " +
                       (is_missing ? "no such file or folder" : error.message()) + hint);
}

}  // namespace eckart::cli
