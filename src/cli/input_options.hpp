#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <vector>

namespace eckart::cli {

/// Inputs of a command: folders and files, and a list of more.
struct InputArgs {
  std::vector<std::filesystem::path> inputs;
  std::filesystem::path files_from, files_from0;  ///< of which only one may be given

  const std::filesystem::path& list() const {
    return files_from.empty() ? files_from0 : files_from;
  }
  /// That ends each path in list().
  char separator() const { return files_from0.empty() ? '\n' : '\0'; }
};

/// Adds INPUT, with this text for the help, --files-from and --files-from0.
void add_input_options(CLI::App& command, InputArgs& args, const char* about);

}  // namespace eckart::cli
