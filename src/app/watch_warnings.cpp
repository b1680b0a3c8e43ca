#include "app/watch_warnings.hpp"

#include <unistd.h>

#include <system_error>

#include "core/printable.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;

/// The folder itself, or the nearest around it that is there.
fs::path nearest_existing(fs::path folder) {
  while (::access(folder.c_str(), F_OK) != 0 && folder != folder.parent_path())
    folder = folder.parent_path();
  return folder;
}

std::string input_problem(const settings::WatchSettings& watch) {
  std::error_code none;
  const fs::file_type type = fs::status(watch.input, none).type();
  const bool removes_inputs = watch.after != "keep";
  if (type == fs::file_type::not_found) return "is not there: it is waited for";
  if (type != fs::file_type::directory) return "is no folder, or cannot be looked at";
  if (::access(watch.input.c_str(), R_OK | X_OK) != 0) return "cannot be read by this user";
  if (removes_inputs && ::access(watch.input.c_str(), W_OK) != 0)
    return "cannot be written to by this user, and so nothing can be taken away";
  return {};
}

std::string output_problem(const fs::path& folder) {
  const fs::path there = nearest_existing(folder);
  std::error_code none;
  if (!fs::is_directory(there, none)) return printable(there.native()) + " is no folder";
  if (!can_write_in(there)) return printable(there.native()) + " cannot be written to by this user";
  return {};
}

}  // namespace

bool can_write_in(const fs::path& folder) {
  return ::access(nearest_existing(folder).c_str(), W_OK | X_OK) == 0;
}

std::vector<std::string> watch_warnings(const settings::WatchSettings& watch) {
  std::vector<std::string> warnings;
  if (const std::string input = input_problem(watch); !input.empty())
    warnings.push_back(watch.location + ": " + printable(watch.input.native()) + " " + input);
  if (watch.says_follow_links)
    warnings.push_back(watch.location + ": follow_links is deprecated: say links: " + watch.links +
                       " instead. Links to files are taken with links: files or all alone");
  for (const fs::path& folder : {watch.output, watch.move_to}) {
    const std::string output = folder.empty() ? std::string() : output_problem(folder);
    if (!output.empty()) warnings.push_back(watch.location + ": " + output);
  }
  return warnings;
}

}  // namespace eckart::app
