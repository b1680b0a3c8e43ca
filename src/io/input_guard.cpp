#include "io/input_guard.hpp"

#include <sys/stat.h>

#include "core/error.hpp"
#include "io/is_within.hpp"

namespace eckart::io {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void refuse(const fs::path& output, const std::string& why) {
  throw ItemError(FailureReason::output_collision, "its output " + output.string() + " " + why);
}

}  // namespace

InputGuard::InputGuard(const std::vector<fs::path>& inputs, const fs::path& root) {
  for (const fs::path& input : inputs) {
    struct stat status {};
    if (::stat(input.c_str(), &status) != 0) continue;
    if (!S_ISDIR(status.st_mode)) {
      files_.emplace(status.st_dev, status.st_ino);
      continue;
    }
    if (is_within(root, input)) {
      std::error_code ignored;  // the output folder does not exist yet
      throw FatalError(ExitCode::usage,
                       "the output folder " + root.string() +
                           (fs::equivalent(root, input, ignored) ? " is" : " is inside") +
                           " the input " + input.string());
    }
    if (is_within(input, root)) folders_.push_back(input);
  }
}

bool InputGuard::check(const fs::path& file, const fs::path& output) const {
  std::error_code ignored;  // a file or folder does not exist
  struct stat status {};
  const bool exists = ::stat(output.c_str(), &status) == 0;
  if (exists) {
    if (fs::equivalent(file, output, ignored)) refuse(output, "would overwrite the input itself");
    if (files_.contains({status.st_dev, status.st_ino}))
      refuse(output, "would overwrite another input");
  }
  check_free(output);
  return exists;
}

void InputGuard::check_free(const fs::path& output) const {
  for (const fs::path& folder : folders_) {
    if (is_within(output, folder))
      refuse(output, "would be inside the input folder " + folder.string());
  }
}

}  // namespace eckart::io
