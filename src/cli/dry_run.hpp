#pragma once

#include "app/run.hpp"

namespace eckart::cli {

struct DryRunOptions {
  bool json = false;     ///< JSON lines instead of text
  bool show_sum = true;  ///< on stderr
};

/// Prints what the run would do with each output, on stdout. Writes no output.
telemetry::RunReport dry_run(app::Run& run, const DryRunOptions& options);

}  // namespace eckart::cli
