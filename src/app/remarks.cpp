#include "app/remarks.hpp"

#include <unistd.h>

#include <system_error>

#include "core/printable.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;

/// The folder itself, or the nearest around it that is there.
fs::path nearest(fs::path folder) {
  while (::access(folder.c_str(), F_OK) != 0 && folder != folder.parent_path())
    folder = folder.parent_path();
  return folder;
}

std::string of_input(const settings::Watch& watch) {
  std::error_code none;
  const fs::file_type type = fs::status(watch.input, none).type();
  const bool is_emptied = watch.after != "keep";
  if (type == fs::file_type::not_found) return "is not there: it is waited for";
  if (type != fs::file_type::directory) return "is no folder, or cannot be looked at";
  if (::access(watch.input.c_str(), R_OK | X_OK) != 0) return "cannot be read by this user";
  if (is_emptied && ::access(watch.input.c_str(), W_OK) != 0)
    return "cannot be written to by this user, and so nothing can be taken away";
  return {};
}

std::string of_output(const fs::path& folder) {
  const fs::path there = nearest(folder);
  std::error_code none;
  if (!fs::is_directory(there, none)) return printable(there.native()) + " is no folder";
  if (!may_write_in(there)) return printable(there.native()) + " cannot be written to by this user";
  return {};
}

}  // namespace

bool may_write_in(const fs::path& folder) {
  return ::access(nearest(folder).c_str(), W_OK | X_OK) == 0;
}

std::vector<std::string> remarks_on(const settings::Watch& watch) {
  std::vector<std::string> remarks;
  if (const std::string input = of_input(watch); !input.empty())
    remarks.push_back(watch.place + ": " + printable(watch.input.native()) + " " + input);
  if (watch.says_follow_links)
    remarks.push_back(watch.place + ": follow_links is deprecated: say links: " + watch.links +
                      " instead. Links to files are taken with links: files or all alone");
  for (const fs::path& folder : {watch.output, watch.move_to}) {
    const std::string output = folder.empty() ? std::string() : of_output(folder);
    if (!output.empty()) remarks.push_back(watch.place + ": " + output);
  }
  return remarks;
}

}  // namespace eckart::app
