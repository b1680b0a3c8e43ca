#include "compute/cpu/cpu_backend.hpp"

#include <cblas.h>
#include <lapacke.h>
#include <sys/mman.h>

#include <algorithm>
#include <string>
#include <thread>

#include "compute/cpu/cpu_lane.hpp"
#include "core/error.hpp"

namespace eckart {
namespace {

/// OpenBLAS tries for ever where it gets no memory for its buffers, one a thread.
void check_memory_for_openblas(int threads) {
  constexpr std::size_t kBuffer_bytes = std::size_t(128) << 20;  // address space; little is touched
  const std::size_t bytes = std::size_t(threads) * kBuffer_bytes;
  void* trial = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (trial == MAP_FAILED) {
    throw FatalError(ExitCode::temporary,
                     "out of memory: OpenBLAS needs " + std::to_string(bytes >> 20) +
                         " MiB of address space for " + std::to_string(threads) + " lanes");
  }
  ::munmap(trial, bytes);
}

class CpuBackend : public Backend {
 public:
  explicit CpuBackend(const BackendOptions& options)
      : ranks_(options.ranks),
        solver_(options.solver == SolverKind::gesvd || options.solver == SolverKind::gesvdj
                    ? options.solver
                    : SolverKind::gram),
        replaced_subspace_(options.solver == SolverKind::subspace),
        lanes_(options.lanes > 0 ? options.lanes
                                 : int(std::max(1U, std::thread::hardware_concurrency()))) {
    check_memory_for_openblas(lanes_);
    openblas_set_num_threads(1);  // the lanes are the threads
    LAPACKE_set_nancheck(0);      // pixels are never NaN
  }

  std::string name() const override { return "cpu"; }
  std::string description() const override {
    return std::to_string(lanes_) + (lanes_ == 1 ? " lane, " : " lanes, ") + to_string(solver_) +
           " in float64 (OpenBLAS)";
  }
  int lanes() const override { return lanes_; }
  int batch_planes(PaddedShape) const override { return 1; }
  std::unique_ptr<Lane> make_lane(int) override { return cpu::make_lane(solver_, ranks_); }
  std::vector<std::string> remarks() const override {
    if (!replaced_subspace_) return {};
    return {"the CPU backend has no solver subspace; gram, which is exact, was used"};
  }

 private:
  const std::vector<RankPolicy> ranks_;
  const SolverKind solver_;
  const bool replaced_subspace_;
  const int lanes_;
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(const BackendOptions& options) {
  return std::make_unique<CpuBackend>(options);
}

}  // namespace eckart
