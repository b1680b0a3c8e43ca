#include "app/make_backend.hpp"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <stdexcept>
#include <string>

#include "app/pipeline_options.hpp"
#include "build_id/module.hpp"
#include "compute/checked/checked_backend.hpp"
#include "compute/cpu/cpu_backend.hpp"
#include "compute/fallback/fallback_backend.hpp"
#include "core/error.hpp"
#include "text/format_count.hpp"
#include "text/format_duration.hpp"

namespace eckart::app {
namespace {

using settings::BackendChoice;
using MakeCudaBackend = compute::Backend* (*)(const compute::BackendOptions& options);

constexpr const char* kCudaModule = "eckart_cuda";
constexpr const char* kNotAvailable = "the CUDA backend is not available: ";

MakeCudaBackend load_cuda_module() try {
  return reinterpret_cast<MakeCudaBackend>(
      load_cuda_function(kCudaModule, "eckart_make_cuda_backend"));
} catch (const ModuleError& error) {
  throw CudaModuleError(std::string(kNotAvailable) + error.what());
} catch (const std::runtime_error& error) {
  throw FatalError(ExitCode::unavailable, std::string(kNotAvailable) + error.what());
}

std::unique_ptr<compute::Backend> make_cpu_with_lanes(compute::BackendOptions options,
                                                      int cpu_lanes) {
  options.lanes = cpu_lanes;
  return make_cpu_backend(options);
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

std::string describe(const CpuPrediction& cpu) {
  return fmt::format("the CPU is predicted to need {} for {}, and CUDA is used from {}",
                     text::format_duration(cpu.seconds),
                     text::format_count(std::int64_t(cpu.images), "image"),
                     text::format_duration(kMinCpuSecondsForCuda));
}

}  // namespace

std::unique_ptr<compute::Backend> make_cpu_backend(const compute::BackendOptions& options) {
  return compute::cpu::make_cpu_backend(options);
}

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

bool may_choose_by_time(const settings::Settings& settings) {
  return settings.backend == BackendChoice::automatic && !settings.deterministic &&
         is_installed(kCudaModule);
}

ChosenBackend make_backend(const settings::Settings& settings,
                           const settings::LoadedCalibration& calibration, bool trace,
                           const std::optional<CpuPrediction>& cpu) {
  for (const std::string& warning : calibration.warnings) spdlog::warn(warning);
  compute::BackendOptions options = backend_options(settings, calibration.costs);
  options.trace = trace;
  const bool needs_no_cuda = cpu && cpu->seconds < kMinCpuSecondsForCuda;
  ChosenBackend chosen = make_backend(needs_no_cuda ? BackendChoice::cpu : settings.backend,
                                      options, settings.cpu.lanes);
  if (needs_no_cuda) chosen.selection_reason = describe(*cpu);
  spdlog::info("backend {}: {} ({})", chosen.backend->name(), chosen.backend->description(),
               chosen.selection_reason);
  return chosen;
}

}  // namespace eckart::app
