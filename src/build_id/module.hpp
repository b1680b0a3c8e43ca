#pragma once

#include <stdexcept>
#include <string>

namespace eckart {

// A module is a library that the program loads when it needs it: lib<name>.so, beside the program
// or in ../lib/eckart.

/// A module is not installed, cannot be loaded, or is of another build.
class ModuleError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

bool is_installed(const std::string& module);

/// Loads the module, which stays loaded, and returns its function. Throws ModuleError. The function
/// <name>_build_id of the module returns its build_id().
void* load_function(const std::string& module, const std::string& function);

/// The same for a module that needs an NVIDIA GPU. Throws std::runtime_error if there is no driver.
void* load_cuda_function(const std::string& module, const std::string& function);

}  // namespace eckart
