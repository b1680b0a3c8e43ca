#pragma once

namespace eckart::telemetry {

/// Sets up spdlog's default logger: stderr, `12:34:56 W message`, never torn by the progress bar
/// (which it erases and redraws). `verbosity`: -2 errors only, -1 warnings, 0 info, 1 debug, 2
/// trace.
void start_log(int verbosity);

}  // namespace eckart::telemetry
