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

/// The parameters of one `eckart shard`.
struct ManifestRequest {
  InputSources sources;
  io::ShardPlan plan;
  std::filesystem::path manifest;  ///< is written
};

/// What `eckart shard` found.
struct ListedInputs {
  io::Manifest manifest;
  /// Inputs that are in no shard because they are missing or cannot be read, with the reason.
  std::vector<std::pair<std::filesystem::path, std::string>> failed;
  std::int64_t ignored = 0;                                    ///< see io::Source::ignored_count()
  std::vector<std::pair<std::string, std::int64_t>> not_read;  ///< see io::UnreadFiles
};

/// Lists all inputs and writes the manifest. Calls `on_listed` with the number of images so far,
/// after every thousand. Throws FatalError: no_input if there is no image, usage if there are fewer
/// images than shards, or as io::write_manifest() and make_sources(). Throws EnvironmentError.
ListedInputs make_manifest(const ManifestRequest& request,
                           const std::function<void(std::int64_t images)>& on_listed);

}  // namespace eckart::app
