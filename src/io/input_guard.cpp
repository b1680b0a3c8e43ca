#include "io/input_guard.hpp"

#include <sys/stat.h>

#include <chrono>
#include <optional>
#include <system_error>

#include "core/error.hpp"
#include "io/is_within.hpp"
#include "io/physical_path.hpp"

namespace eckart::io {

namespace fs = std::filesystem;

namespace {

/// By whatever links and mounts the paths lead there.
bool is_inside(const fs::path& path, const fs::path& folder) {
  return is_within(path, folder) || is_physically_within(path, folder);
}

/// Device and path, with a slash at the end; empty if the place is not known.
std::string text_of(const std::optional<PhysicalPath>& place) {
  return place ? place->device + (place->path / "").native() : "";
}

/// Returns the folder whose text, which ends with a slash, begins `path`; null if there is none.
const fs::path* find_around(const std::unordered_map<std::string, fs::path>& folders,
                            const std::string& path) {
  for (std::size_t slash = path.find('/'); slash != path.npos; slash = path.find('/', slash + 1)) {
    const auto found = folders.find(path.substr(0, slash + 1));
    if (found != folders.end()) return &found->second;
  }
  return nullptr;
}

[[noreturn]] void refuse(const fs::path& output, const std::string& why) {
  throw ItemError(FailureReason::output_collision, "its output " + output.string() + " " + why);
}

}  // namespace

InputGuard::InputGuard(const std::vector<fs::path>& inputs, const fs::path& root,
                       bool has_unknown_inputs)
    : root_(has_unknown_inputs ? root : fs::path()) {
  for (const fs::path& input : inputs) {
    struct stat status {};
    if (::stat(input.c_str(), &status) != 0) continue;
    if (!S_ISDIR(status.st_mode)) {
      files_.emplace(status.st_dev, status.st_ino);
      continue;
    }
    if (is_inside(root, input)) {
      std::error_code ignored;  // the output folder does not exist yet
      throw FatalError(ExitCode::usage,
                       "the output folder " + root.string() +
                           (fs::equivalent(root, input, ignored) ? " is" : " is inside") +
                           " the input " + input.string());
    }
    folders_by_real_path_.emplace(RealPath(input).text(), input);
    folders_by_place_.emplace(text_of(nearest_physical_path(input)), input);
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
  if (folders_by_real_path_.empty() && root_.empty()) return;
  const std::string problem = problem_of(output.parent_path());
  if (!problem.empty()) refuse(output, problem);
}

std::string InputGuard::find_problem(const fs::path& folder) const {
  const fs::path* input = find_around(folders_by_real_path_, RealPath(folder).text());
  if (!input) {
    input = find_around(folders_by_place_, text_of(nearest_physical_path(folder)));
    if (input && !is_physically_within(folder, *input)) input = nullptr;
  }
  if (input) return "would be inside the input folder " + input->string();
  if (!root_.empty() && !is_inside(folder, root_))
    return "would be outside of the output folder, through a link or a mount, where inputs of the "
           "list may be";
  return {};
}

std::string InputGuard::problem_of(const fs::path& folder) const {
  constexpr std::chrono::seconds kMaxAge{1};
  constexpr std::size_t kMaxFolders = 10000;
  const Instant now = Clock::now();
  {
    const std::lock_guard lock(mutex_);
    const auto known = checked_.find(folder.native());
    if (known != checked_.end() && now - known->second.at < kMaxAge) return known->second.problem;
  }
  std::string problem = find_problem(folder);
  const std::lock_guard lock(mutex_);
  if (checked_.size() >= kMaxFolders) checked_.clear();
  checked_[folder.native()] = {now, problem};
  return problem;
}

}  // namespace eckart::io
