#include "build_id/module.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "build_id/build_id.hpp"

namespace eckart {
namespace {

using BuildId = const char* (*)();

/// Throws if the module is of another build, because its objects may have another layout.
void check_build(void* module, const std::string& name, const std::filesystem::path& path) {
  const auto module_build_id =
      reinterpret_cast<BuildId>(dlsym(module, (name + "_build_id").c_str()));
  const std::string id = module_build_id ? module_build_id() : "unknown";
  if (id == build_id()) return;
  throw ModuleError(path.string() + " has build ID " + id + ", but the program has build ID " +
                    build_id() + "; install both from the same package");
}

std::string file_of(const std::string& module) { return "lib" + module + ".so"; }

/// Returns an empty path if the module is not installed.
std::filesystem::path find(const std::string& module) {
  std::error_code error;  // an inaccessible folder counts as a folder without the module
  const auto here = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const auto& folder : {here, here.parent_path() / "lib" / "eckart"}) {
    if (std::filesystem::exists(folder / file_of(module), error)) return folder / file_of(module);
  }
  return {};
}

}  // namespace

bool is_installed(const std::string& module) { return !find(module).empty(); }

void* load_function(const std::string& module, const std::string& function) {
  const std::filesystem::path path = find(module);
  if (path.empty()) throw ModuleError(file_of(module) + " is not installed");
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) throw ModuleError(dlerror());
  check_build(handle, module, path);
  void* const symbol = dlsym(handle, function.c_str());
  if (!symbol) throw ModuleError(dlerror());
  return symbol;
}

void* load_cuda_function(const std::string& module, const std::string& function) {
  // Without the driver, loading the libraries of CUDA takes time for nothing.
  if (!dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL))
    throw std::runtime_error("no NVIDIA driver was found (libcuda.so.1)");
  if (!is_installed(module)) {
    throw ModuleError(file_of(module) +
                      " is not installed; the package eckart-cuda has it, and each build "
                      "with the CUDA toolkit");
  }
  return load_function(module, function);
}

}  // namespace eckart
