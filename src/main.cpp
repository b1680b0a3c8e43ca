#include "cli/cli.hpp"

int main(int argc, char** argv) { return eckart::cli::run(argc, argv); }
