#include "app/quarantine_place.hpp"

#include <functional>
#include <string>
#include <system_error>

#include "io/quarantine.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;

fs::file_type type_of(const fs::path& path) {
  std::error_code none;
  return fs::symlink_status(path, none).type();
}

/// The first of name, 2-name, 3-name ... in `folder` that is free.
fs::path free_name(const fs::path& folder, const fs::path& name,
                   const std::function<bool(const fs::path&)>& is_free) {
  fs::path numbered = name;
  for (int number = 2; !is_free(folder / numbered); ++number)
    numbered = std::to_string(number) + "-" + name.native();
  return numbered;
}

bool may_be_folder(const fs::path& path) {
  const fs::file_type type = type_of(path);
  return type == fs::file_type::directory || type == fs::file_type::not_found;
}

bool may_be_file(const fs::path& path) {
  return type_of(path) != fs::file_type::directory &&
         type_of(io::reason_file_of(path)) != fs::file_type::directory;
}

}  // namespace

fs::path quarantine_place(const fs::path& quarantine, const fs::path& relative) {
  fs::path folder;
  for (const fs::path& name : relative.parent_path())
    folder /= free_name(quarantine / folder, name, may_be_folder);
  return folder / free_name(quarantine / folder, relative.filename(), may_be_file);
}

}  // namespace eckart::app
