#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "app/input_sources.hpp"
#include "io/manifest.hpp"

namespace eckart::app {

/// All inputs of a command, by their absolute paths, so that other machines find them.
struct InputList {
  std::vector<std::filesystem::path> inputs;  ///< of the request
  std::vector<io::ManifestEntry> entries;
  /// Inputs that are not in `entries` because they are missing or cannot be read, with the reason.
  std::vector<std::pair<std::filesystem::path, std::string>> failed;
  std::int64_t ignored = 0;                                    ///< see io::Source::ignored_count()
  std::vector<std::pair<std::string, std::int64_t>> not_read;  ///< see io::UnreadFiles
};

/// Lists all inputs. Images in the folder `output` are none; it may be empty. Calls `on_listed`
/// with the number of images so far, after every thousand. Throws as make_sources().
InputList list_inputs(InputSources sources, const std::filesystem::path& output,
                      const std::function<void(std::int64_t images)>& on_listed);

/// Returns the absolute path, without parts that are `..`.
std::filesystem::path absolute_path(const std::filesystem::path& path);

}  // namespace eckart::app
