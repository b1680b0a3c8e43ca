#pragma once

namespace eckart::cli {

/// The whole program: reads the command line, runs the subcommand, and turns every error into one
/// line on stderr and an exit code (core/error.hpp).
int run(int argc, char** argv);

}  // namespace eckart::cli
