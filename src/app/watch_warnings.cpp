#include "app/watch_warnings.hpp"

#include <unistd.h>

#include <system_error>

#include "io/root_path.hpp"
#include "text/printable.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;

/// Returns the folder itself, or its nearest existing parent.
fs::path nearest_existing(fs::path folder) {
  while (::access(folder.c_str(), F_OK) != 0 && folder != folder.parent_path())
    folder = folder.parent_path();
  return folder;
}

std::string input_problem(const settings::WatchSettings& watch) {
  std::error_code none;
  const fs::file_type type = fs::status(watch.input, none).type();
  if (type == fs::file_type::not_found) return "does not exist; the service will wait for it";
  if (type != fs::file_type::directory) return "is not a folder, or is not accessible";
  if (::access(watch.input.c_str(), R_OK | X_OK) != 0) return "is not readable by this user";
  if (!watch.keeps_inputs() && ::access(watch.input.c_str(), W_OK) != 0)
    return "is not writable by this user; inputs cannot be moved or deleted";
  if (!watch.keeps_inputs() && io::RootPath(watch.input).has_links())
    return "leads to " + text::printable(fs::canonical(watch.input, none).native()) +
           " by symbolic links; inputs are moved or deleted there";
  return {};
}

std::string output_problem(const fs::path& folder) {
  const fs::path there = nearest_existing(folder);
  std::error_code none;
  if (!fs::is_directory(there, none)) return text::printable(there.native()) + " is not a folder";
  if (!can_write_in(there))
    return text::printable(there.native()) + " is not writable by this user";
  return {};
}

}  // namespace

bool can_write_in(const fs::path& folder) {
  return ::access(nearest_existing(folder).c_str(), W_OK | X_OK) == 0;
}

std::vector<std::string> watch_warnings(const settings::WatchSettings& watch) {
  std::vector<std::string> warnings;
  if (const std::string input = input_problem(watch); !input.empty())
    warnings.push_back(watch.location + ": " + text::printable(watch.input.native()) + " " + input);
  for (const fs::path& folder : {watch.output, watch.move_to}) {
    const std::string output = folder.empty() ? std::string() : output_problem(folder);
    if (!output.empty()) warnings.push_back(watch.location + ": " + output);
  }
  return warnings;
}

}  // namespace eckart::app
