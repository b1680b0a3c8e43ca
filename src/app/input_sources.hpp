#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "io/manifest.hpp"
#include "io/source.hpp"

namespace eckart::app {

/// The inputs of a shard of a manifest.
struct ShardInputs {
  std::filesystem::path file;
  io::Manifest manifest;   ///< of the file
  std::int64_t index = 0;  ///< from 1 on
};

/// What names the inputs of a command.
struct InputSources {
  std::vector<std::filesystem::path> inputs;  ///< folders and files
  std::filesystem::path files_from;  ///< a file with one path per line, `-` for stdin; may be empty
  char files_from_separator = '\n';  ///< that ends each path in files_from: or a null byte
  /// If set, only these are inputs; `inputs` are what the manifest was made from.
  std::optional<ShardInputs> shard{};
};

/// Returns a source for all of them, in this order. Images in the folder `output` are not inputs;
/// it may be empty. Throws as io::make_source() and io::make_list_source().
std::unique_ptr<io::Source> make_sources(const InputSources& sources,
                                         const std::filesystem::path& output);

}  // namespace eckart::app
