#pragma once

#include <functional>

#include "app/run.hpp"
#include "core/error.hpp"

namespace eckart::cli {

/// The exit code for this report of the run. Throws FatalError(nothing_readable) if the inputs had
/// no images.
ExitCode exit_code(const app::Run& run, const telemetry::RunReport& report);

/// Executes the run with signals and, if `show_progress`, a progress bar. Calls `print` with its
/// report, if it has one, and closes the report of its images. Returns the exit code of the
/// process.
ExitCode execute_run(app::Run& run, bool show_progress,
                     const std::function<void(const telemetry::RunReport&)>& print);

}  // namespace eckart::cli
