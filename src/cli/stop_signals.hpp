#pragma once

#include <signal.h>

#include "core/error.hpp"

namespace eckart::cli {

inline constexpr int kStopSignals[] = {SIGHUP, SIGINT, SIGTERM};

/// Returns 128 + signal, like a shell.
constexpr ExitCode exit_code_of(int signal) { return ExitCode(128 + signal); }
static_assert(exit_code_of(SIGHUP) == ExitCode::hung_up &&
              exit_code_of(SIGINT) == ExitCode::interrupted &&
              exit_code_of(SIGTERM) == ExitCode::terminated);

}  // namespace eckart::cli
