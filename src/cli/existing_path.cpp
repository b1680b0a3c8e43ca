#include "cli/existing_path.hpp"

#include <system_error>

#include "codec/codec.hpp"
#include "core/error.hpp"
#include "io/open_archive.hpp"
#include "text/printable.hpp"

namespace eckart::cli {

void check_exists(const std::filesystem::path& path, const std::string& hint) {
  if (io::input_exists(path) && io::parse_member_path(path)) return;
  std::error_code error;
  const bool is_missing =
      std::filesystem::symlink_status(path, error).type() == std::filesystem::file_type::not_found;
  // If a folder of the path may not be searched, opening the path reports the reason.
  if (!is_missing && (!error || error == std::errc::permission_denied)) return;
  throw FatalError(ExitCode::no_input,
                   text::printable(path.native()) + ": " +
                       (is_missing ? "no such file or folder" : error.message()) + hint);
}

void check_not_image(const std::string& flag, const std::filesystem::path& file) {
  if (codec::is_image_file_name(file.filename().string()))
    throw FatalError(ExitCode::usage,
                     flag + " " + text::printable(file.native()) + " would overwrite an image");
}

}  // namespace eckart::cli
