#include "tests/backend/cuda/bench/solve.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace eckart::compute::cuda::bench {
namespace {

constexpr int kWarmUp = 3, kIterations = 3;

using Graph = UniqueHandle<cudaGraph_t, cudaGraphDestroy>;
using GraphExec = UniqueHandle<cudaGraphExec_t, cudaGraphExecDestroy>;

class SolveBatch {
 public:
  SolveBatch(const Handles& handles, const KernelCase& c)
      : handles_(handles),
        pixels_(c),
        problem_{c.side, c.side, c.planes, {c.rank}, c.columns(), kIterations},
        solver_(make_subspace_solver()),
        outputs_(pixels_.bytes.size()),
        errors_(std::size_t(reconstruct_tile_count(c.side, c.side)) * std::size_t(c.planes)),
        values_(std::size_t(solver_->spectrum(problem_).values()) * std::size_t(c.planes)),
        info_(std::size_t(c.planes)),
        workspace_(solver_->workspace_bytes(handles, problem_)) {}

  void solve() const {
    solver_->solve(handles_, problem_,
                   {.pixels = pixels_.bytes.get(),
                    .planes = pixels_.planes.get(),
                    .has_16_bit_samples = false,
                    .has_wide_planes = false,
                    .outputs = outputs_.get(),
                    .output_stride_bytes = pixels_.bytes.size(),
                    .errors = errors_.get(),
                    .values = values_.get(),
                    .info = info_.get(),
                    .workspace = workspace_.get(),
                    .workspace_bytes = workspace_.size()});
  }
  GraphExec capture() const {
    ECKART_CUDA_CHECK(cudaStreamBeginCapture(handles_.stream, cudaStreamCaptureModeThreadLocal));
    solve();
    cudaGraph_t captured = nullptr;
    ECKART_CUDA_CHECK(cudaStreamEndCapture(handles_.stream, &captured));
    const Graph graph(captured);
    cudaGraphExec_t runnable = nullptr;
    ECKART_CUDA_CHECK(cudaGraphInstantiate(&runnable, graph.get(), 0));
    return GraphExec(runnable);
  }

 private:
  const Handles handles_;
  const BenchPixels pixels_;
  const Problem problem_;
  const std::unique_ptr<BatchSolver> solver_;
  const DeviceArray<std::byte> outputs_;
  const DeviceArray<TileError> errors_;
  const DeviceArray<double> values_;
  const DeviceArray<int> info_;
  const DeviceArray<std::byte> workspace_;
};

/// Microseconds on the host's clock.
nlohmann::json latency(cudaStream_t stream, int repeats, const std::function<void()>& queue) {
  std::vector<double> us;
  for (int i = 0; i < kWarmUp + repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    queue();
    ECKART_CUDA_CHECK(cudaStreamSynchronize(stream));
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    if (i >= kWarmUp) us.push_back(took.count());
  }
  std::sort(us.begin(), us.end());
  return {{"median", us[us.size() / 2]}, {"min", us.front()}, {"max", us.back()}};
}

}  // namespace

nlohmann::json measure_solve(const Handles& handles, const KernelCase& c, int repeats) {
  const SolveBatch batch(handles, c);
  const auto kernel_by_kernel = latency(handles.stream, repeats, [&] { batch.solve(); });
  const GraphExec graph = batch.capture();
  const auto as_graph = latency(handles.stream, repeats, [&] {
    ECKART_CUDA_CHECK(cudaGraphLaunch(graph.get(), handles.stream));
  });
  std::fprintf(stderr, "solve, %d planes: %.0f us kernel by kernel, %.0f us as a CUDA graph\n",
               c.planes, kernel_by_kernel["median"].get<double>(),
               as_graph["median"].get<double>());
  return {{"name", "solve"},
          {"side", c.side},
          {"rank", c.rank},
          {"columns", c.columns()},
          {"iterations", kIterations},
          {"planes_per_batch", c.planes},
          {"latency_us", kernel_by_kernel},
          {"latency_as_graph_us", as_graph}};
}

}  // namespace eckart::compute::cuda::bench
