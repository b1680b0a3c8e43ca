#pragma once

#include <string>

namespace eckart {

// A module is a library that the program loads when it needs it: lib<name>.so, beside the program
// or in ../lib/eckart.

bool is_installed(const std::string& module);

/// Loads the module, which stays loaded, and returns its function. Throws std::runtime_error with
/// the reason if it is not installed, cannot be loaded, or is of another build: its function
/// <name>_build_id returns its build_id().
void* load_function(const std::string& module, const std::string& function);

/// The same for a module that needs an NVIDIA GPU. The reason says if there is no driver, and where
/// such modules are from.
void* load_cuda_function(const std::string& module, const std::string& function);

}  // namespace eckart
