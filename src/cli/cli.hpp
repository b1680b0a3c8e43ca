#pragma once

namespace eckart::cli {

/// Runs the program: parses the command line, runs the subcommand, and returns the exit code
/// (core/error.hpp). Prints each error as one line on stderr.
int run(int argc, char** argv);

}  // namespace eckart::cli
