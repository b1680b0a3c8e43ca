#include "io/remove_folder.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace eckart::io {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMinThreadFiles = 256;  // removing them takes longer than to start a thread

/// The paths of everything in a folder, by folder.
std::vector<std::string> list(const fs::path& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    paths.push_back(entry->path().native());
  return paths;
}

/// Leaves folders.
void unlink_all(std::span<const std::string> paths) {
  for (const std::string& path : paths) ::unlink(path.c_str());
}

}  // namespace

void remove_folder(const fs::path& folder, int max_threads) {
  const std::vector<std::string> paths = list(folder);
  {
    const std::size_t threads =
        std::clamp<std::size_t>(paths.size() / kMinThreadFiles, 1, std::size_t(max_threads));
    const std::size_t thread_paths = (paths.size() + threads - 1) / threads;
    std::span<const std::string> left = paths;
    std::vector<std::jthread> others;
    try {
      while (left.size() > thread_paths) {
        others.emplace_back(unlink_all, left.first(thread_paths));
        left = left.subspan(thread_paths);
      }
    } catch (const std::system_error&) {  // this thread does the rest
    }
    unlink_all(left);
  }
  std::error_code ignored;
  fs::remove_all(folder, ignored);
}

}  // namespace eckart::io
