#pragma once

#include <string>

#include "app/run.hpp"

namespace eckart::cli {

struct DryRunOptions {
  bool json = false;     ///< JSON lines instead of text
  bool show_sum = true;  ///< on stderr
  /// Why the run will do nothing, for example "out has 3 outputs made with other settings"; empty
  /// if it will start.
  std::string refusal{};
};

/// Prints what the run would do with each output, on stdout. Writes no output.
telemetry::RunReport dry_run(app::Run& run, const DryRunOptions& options);

}  // namespace eckart::cli
