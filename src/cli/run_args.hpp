#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "cli/input_options.hpp"
#include "cli/processing_options.hpp"

namespace eckart::cli {

/// The arguments of `eckart run`.
struct RunArgs : ProcessingArgs, InputArgs {
  std::filesystem::path output, report, trace;
  std::string shard;
  std::optional<std::string> ledger;
  bool overwrite = false, reprocess = false, json = false, dry_run = false;
  int verbose = 0, quiet = 0;

  /// Whether outputs that were made with other settings are made again.
  bool reprocesses() const { return overwrite || reprocess; }
};

}  // namespace eckart::cli
