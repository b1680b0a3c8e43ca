#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "io/source.hpp"

namespace eckart::app {

/// What names the inputs of a command.
struct InputSources {
  std::vector<std::filesystem::path> inputs;  ///< folders and files
  std::filesystem::path files_from;  ///< a file with one path per line, `-` for stdin; may be empty
  char files_from_separator = '\n';  ///< that ends each path in files_from: or a null byte
};

/// Returns a source for all of them, in this order. Images in the folder `output` are not inputs;
/// it may be empty. Throws as io::make_source() and io::make_list_source().
std::unique_ptr<io::Source> make_sources(const InputSources& sources,
                                         const std::filesystem::path& output);

}  // namespace eckart::app
