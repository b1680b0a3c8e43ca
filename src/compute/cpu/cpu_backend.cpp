#include "compute/cpu/cpu_backend.hpp"

#include <cblas.h>
#include <lapacke.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "compute/cost_model.hpp"
#include "compute/cpu/built_in_costs.hpp"
#include "compute/cpu/cpu_lane.hpp"
#include "compute/cpu/cpu_name.hpp"
#include "compute/cpu/lane_count.hpp"
#include "compute/cpu/openblas_core.hpp"
#include "compute/cpu/openblas_overrides.hpp"
#include "compute/solver_choice.hpp"
#include "core/error.hpp"

namespace eckart::compute::cpu {
namespace {

const char* describe_precision(SolverKind solver, Certificate certificate) {
  if (!is_iterative(solver)) return " in float64";
  return certificate == Certificate::bound ? " in float32 if proven, otherwise in float64"
                                           : " in float32 if certified, otherwise in float64";
}

class CpuBackend : public Backend {
 public:
  explicit CpuBackend(const BackendOptions& options)
      : solver_(options.solver),
        certificate_(options.certificate),
        lanes_(choose_lane_count(options)),
        device_(cpu::cpu_name()),
        costs_(select_costs(options.calibration, CostBackend::cpu, device_, kBuiltInCpuCosts)),
        chooser_(solver_, costs_.costs) {
    openblas_set_num_threads(1);  // one BLAS thread per lane
    make_openblas_buffers(lanes_, "128 MiB per lane; use fewer lanes");
    LAPACKE_set_nancheck(0);  // pixels are never NaN
  }

  std::string name() const override { return "cpu"; }
  std::string device_name() const override { return device_; }
  std::string description() const override {
    return std::to_string(lanes_) + (lanes_ == 1 ? " lane, " : " lanes, ") + to_string(solver_) +
           describe_precision(solver_, certificate_) + " (OpenBLAS)";
  }
  int lanes() const override { return lanes_; }
  int batch_planes(const BatchKey&) const override { return 1; }
  std::unique_ptr<Lane> make_lane(int) override {
    return cpu::make_lane(solver_, certificate_, chooser_);
  }
  std::vector<SolverChoice> solver_choices() const override { return chooser_.solver_choices(); }
  std::vector<std::string> details() const override {
    return {device_ + ", " + openblas_get_config(), describe_source(costs_)};
  }
  std::vector<std::string> warnings() const override {
    std::vector<std::string> lines;
    if (!is_openblas_thread_safe()) {
      lines.emplace_back(
          "OpenBLAS was built without threads, so only one lane is used; install "
          "libopenblas0-pthread to use all cores");
    }
    if (std::string line =
            cpu::openblas_core_warning(openblas_get_corename(), cpu::detect_simd_features());
        !line.empty()) {
      lines.push_back(std::move(line));
    }
    return lines;
  }

 private:
  const SolverKind solver_;
  const Certificate certificate_;
  const int lanes_;
  const std::string device_;
  const MeasuredCosts costs_;
  SolverChooser chooser_;
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(const BackendOptions& options) {
  return std::make_unique<CpuBackend>(options);
}

}  // namespace eckart::compute::cpu
