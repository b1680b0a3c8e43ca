// Benchmark of each kernel at the shapes that the solvers use, compared with the roofline of the
// device and with library functions. Prints a table to stderr and one JSON array to stdout.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "compute/cuda/cuda_backend.hpp"
#include "tests/backend/cuda/bench/kernel.hpp"
#include "tests/backend/cuda/bench/peaks.hpp"
#include "tests/backend/cuda/bench/print_result.hpp"
#include "tests/backend/cuda/bench/solve.hpp"
#include "tests/backend/cuda/bench/timer.hpp"

namespace eckart::compute::cuda::bench {
namespace {

struct KernelBenchArgs {
  std::vector<std::string> only;
  int repeats = 20;
};

/// The handles of one lane.
class LaneHandles {
 public:
  LaneHandles() {
    ECKART_CUDA_CHECK(cublasSetStream(blas_.get(), stream_.get()));
    ECKART_CUDA_CHECK(cusolverDnSetStream(solver_.get(), stream_.get()));
  }
  Handles handles() const { return {stream_.get(), blas_.get(), solver_.get()}; }

 private:
  Stream stream_ = ECKART_CUDA_HANDLE(Stream, cudaStreamCreate);
  BlasHandle blas_ = ECKART_CUDA_HANDLE(BlasHandle, cublasCreate_v2);
  SolverHandle solver_ = ECKART_CUDA_HANDLE(SolverHandle, cusolverDnCreate);
};

/// A batch of the size that CudaBackend uses.
KernelCase make_case(int side, int rank) {
  BackendOptions options;
  options.devices = {0};  // the current device of this thread
  const PaddedShape shape = padded_shape({side, side, 1, Depth::u8}, 32);
  return {side, rank, make_cuda_backend(options)->batch_planes({shape, {RankPolicy{rank}}})};
}

nlohmann::json to_json(const Spread& us) {
  return {{"median", us.median}, {"min", us.min}, {"max", us.max}};
}

nlohmann::json measure(const BenchKernel& kernel, const KernelCase& c, const Peaks& peaks,
                       const KernelTimer& timer) {
  const Spread us = timer.microseconds(kernel.queued);
  const RooflineLimit limit = roofline_limit(kernel.work, peaks);
  const std::string bound(to_string(limit.bound));
  nlohmann::json result{{"name", kernel.name},
                        {"side", c.side},
                        {"rank", c.rank},
                        {"columns", c.columns()},
                        {"planes_per_batch", c.planes},
                        {"us", to_json(us)},
                        {"bytes", kernel.work.bytes},
                        {"flops", kernel.work.flops},
                        {"shared_bytes", kernel.work.shared_bytes},
                        {"bound", bound},
                        {"peak_per_s", peaks[limit.bound]},
                        {"roofline_share", limit.us / us.median}};
  std::fprintf(stderr, "%-26s %9.1f (%.1f to %.1f) us  %-7s %5.1f %%", kernel.name.c_str(),
               us.median, us.min, us.max, bound.c_str(), 100 * limit.us / us.median);
  if (kernel.library) {
    const Spread library = timer.microseconds(kernel.library->queued);
    result["library"] = {{"what", kernel.library->functions}, {"us", to_json(library)}};
    std::fprintf(stderr, "  library: %.1f us, %s", library.median,
                 kernel.library->functions.c_str());
  }
  std::fprintf(stderr, "\n");
  return result;
}

nlohmann::json run(const KernelBenchArgs& args) {
  const LaneHandles queue;
  const Handles handles = queue.handles();
  const KernelTimer timer(handles.stream, args.repeats);
  const Peaks peaks = measure_peaks(handles, timer);
  for (const RooflineBound bound : kRooflineBounds)
    std::fprintf(stderr, "peak %-8s %.4g per second\n", to_string(bound).data(), peaks[bound]);
  std::fprintf(stderr, "empty launch: %.1f us\n", timer.microseconds({[] {}}).median);

  nlohmann::json results = nlohmann::json::array();
  for (const auto& [side, rank] :
       {std::pair{256, 20}, std::pair{256, 100}, std::pair{512, 50}, std::pair{1024, 100}}) {
    const KernelCase c = make_case(side, rank);
    std::fprintf(stderr, "\n%d^2, k = %d, l = %d, %d planes\n", side, rank, c.columns(), c.planes);
    const auto pixels = std::make_shared<const BenchPixels>(c);
    for (const auto make_kernels : {subspace_kernels, float64_kernels}) {
      for (const BenchKernel& kernel : make_kernels(handles, c, pixels)) {
        if (args.only.empty() ||
            std::find(args.only.begin(), args.only.end(), kernel.name) != args.only.end())
          results.push_back(measure(kernel, c, peaks, timer));
      }
    }
  }
  if (args.only.empty() || std::count(args.only.begin(), args.only.end(), "solve")) {
    std::fprintf(stderr, "\n");
    for (const int planes : {1, 16, 512})
      results.push_back(measure_solve(handles, {256, 20, planes}, args.repeats));
  }
  if (results.empty())
    throw std::runtime_error("no kernel matches --only; omit --only to see all names");
  return results;
}

}  // namespace
}  // namespace eckart::compute::cuda::bench

int main(int argc, char** argv) {
  eckart::compute::cuda::bench::KernelBenchArgs args;
  CLI::App app("The CUDA kernels against the roofline and against libraries", "kernel_bench");
  app.add_option("--only", args.only, "Measure only these kernels (names as in the table)");
  app.add_option("--repeats", args.repeats)->check(CLI::Range(10, 1000));
  CLI11_PARSE(app, argc, argv);
  return eckart::compute::cuda::bench::print_result(
      "kernel_bench", [&] { return eckart::compute::cuda::bench::run(args); });
}
