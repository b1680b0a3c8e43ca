#include "app/make_backend.hpp"

#include <dlfcn.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <system_error>

#include "app/pipeline_options.hpp"
#include "build_id/build_id.hpp"
#include "compute/checked/checked_backend.hpp"
#include "compute/cpu/cpu_backend.hpp"
#include "compute/fallback/fallback_backend.hpp"
#include "core/error.hpp"

namespace eckart::app {
namespace {

using settings::BackendChoice;
using MakeCudaBackend = compute::Backend* (*)(const compute::BackendOptions& options);
using CudaBuildId = const char* (*)();

FatalError cuda_unavailable(const std::string& reason) {
  return {ExitCode::unavailable, "the CUDA backend is not available: " + reason};
}

std::filesystem::path find_cuda_module() {
  std::error_code error;  // an inaccessible folder counts as a folder without the module
  const auto here = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  const auto beside = here / "libeckart_cuda.so";
  const auto installed = here.parent_path() / "lib" / "eckart" / "libeckart_cuda.so";
  for (const auto& path : {beside, installed}) {
    if (std::filesystem::exists(path, error)) return path;
  }
  throw cuda_unavailable("libeckart_cuda.so is not installed");
}

/// Throws if the module is of another build, because its objects may have another layout.
void check_build(void* module, const std::filesystem::path& path) {
  const auto module_build_id = reinterpret_cast<CudaBuildId>(dlsym(module, "eckart_cuda_build_id"));
  const std::string id = module_build_id ? module_build_id() : "unknown";
  if (id == build_id()) return;
  throw cuda_unavailable(path.string() + " has build ID " + id + ", but the program has build ID " +
                         build_id() + "; install both from the same package");
}

MakeCudaBackend load_cuda_module() {
  const auto path = find_cuda_module();
  // Check the driver first: without it, loading cuSOLVER takes time for nothing.
  if (!dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL)) {
    throw cuda_unavailable("no NVIDIA driver was found (libcuda.so.1)");
  }
  void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!module) throw cuda_unavailable(dlerror());
  check_build(module, path);
  void* symbol = dlsym(module, "eckart_make_cuda_backend");
  if (!symbol) throw cuda_unavailable(dlerror());
  return reinterpret_cast<MakeCudaBackend>(symbol);
}

std::unique_ptr<compute::Backend> make_cpu_with_lanes(compute::BackendOptions options,
                                                      int cpu_lanes) {
  options.lanes = cpu_lanes;
  return compute::cpu::make_cpu_backend(options);
}

/// Uses smaller batches, and finally the CPU, if GPU memory runs out.
std::unique_ptr<compute::Backend> make_cuda_with_fallback(const compute::BackendOptions& options,
                                                          int cpu_lanes) {
  return compute::make_fallback_backend(
      make_cuda_backend(options), [=] { return make_cpu_with_lanes(options, cpu_lanes); },
      [](const std::string& warning) { spdlog::warn("{}", warning); });
}

/// For a reference backend: replaces solvers that are certified to 0.01 dB by a float64 solver,
/// which needs no certificate.
compute::BackendOptions with_float64_solver(compute::BackendOptions options) {
  if (is_iterative(options.solver)) options.solver = SolverKind::gram;
  return options;
}

}  // namespace

std::unique_ptr<compute::Backend> make_cuda_backend(const compute::BackendOptions& options) {
  return std::unique_ptr<compute::Backend>(load_cuda_module()(options));
}

ChosenBackend make_backend(BackendChoice choice, const compute::BackendOptions& options,
                           int cpu_lanes) {
  switch (choice) {
    case BackendChoice::cpu:
      return {make_cpu_with_lanes(options, cpu_lanes), choice, "requested"};
    case BackendChoice::cuda:
      return {make_cuda_with_fallback(options, cpu_lanes), choice, "requested"};
    case BackendChoice::checked:
      return {compute::make_checked_backend(
                  make_cuda_with_fallback(options, cpu_lanes),
                  make_cpu_with_lanes(with_float64_solver(options), cpu_lanes)),
              choice, "requested"};
    case BackendChoice::automatic:
      break;
  }
  try {
    return {make_cuda_with_fallback(options, cpu_lanes), BackendChoice::cuda, "a GPU was found"};
  } catch (const FatalError& error) {
    if (error.code() != ExitCode::unavailable) throw;
    return {make_cpu_with_lanes(options, cpu_lanes), BackendChoice::cpu, error.what()};
  }
}

ChosenBackend make_backend(const settings::Settings& settings,
                           const settings::LoadedCalibration& calibration, bool trace) {
  for (const std::string& warning : calibration.warnings) spdlog::warn(warning);
  compute::BackendOptions options = backend_options(settings, calibration.costs);
  options.trace = trace;
  ChosenBackend chosen = make_backend(settings.backend, options, settings.cpu.lanes);
  spdlog::info("backend {}: {} ({})", chosen.backend->name(), chosen.backend->description(),
               chosen.selection_reason);
  return chosen;
}

}  // namespace eckart::app
