// Benchmark of resizing: a CPU core against the GPU on one thread, and images per second of several
// threads with and without the GPU. Prints a table to stderr and one JSON array to stdout.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "compute/cuda/image_resizer.hpp"
#include "compute/cuda/plan/resize_choice.hpp"
#include "preparation/resize.hpp"
#include "tests/backend/cuda/bench/print_result.hpp"
#include "tests/unit/codec/test_images.hpp"

namespace eckart::compute::cuda {
namespace {

constexpr std::size_t kMaxBytes = std::size_t(1) << 30;

struct ResizeBenchArgs {
  int repeats = 20, threads = int(std::thread::hardware_concurrency());
};

struct ResizeCase {
  const char* name;
  ImageShape shape;
  int rows, cols;
};

const ResizeCase kCases[] = {
    {"slice to 256 x 256", {208, 176, 1, Depth::u8}, 256, 256},
    {"Kodak to 256 x 256", {512, 768, 3, Depth::u8}, 256, 256},
    {"2 megapixels to 256 x 256", {1200, 1600, 3, Depth::u8}, 256, 256},
    {"12 megapixels to 256 x 256", {3000, 4000, 3, Depth::u8}, 256, 256},
    {"12 megapixels to 1536 x 2048", {3000, 4000, 3, Depth::u8}, 1536, 2048},
    {"12 megapixels of 16 bits to 256 x 256", {3000, 4000, 3, Depth::u16}, 256, 256},
    {"512 x 512 of 16 bits to 256 x 256", {512, 512, 1, Depth::u16}, 256, 256},
};

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Median, minimum and maximum of the milliseconds of one call.
nlohmann::json milliseconds(int repeats, const std::function<void()>& work) {
  work();  // warm-up
  std::vector<double> ms;
  for (int i = 0; i < repeats; ++i) ms.push_back(1000 * seconds(work));
  std::ranges::sort(ms);
  return {{"median", ms[ms.size() / 2]}, {"min", ms.front()}, {"max", ms.back()}};
}

Image copy_of(const Image& image) {
  Image copy(image.shape());
  std::memcpy(copy.data(), image.data(), image.bytes());
  return copy;
}

class ResizeBenchmark {
 public:
  explicit ResizeBenchmark(const ResizeBenchArgs& args) : args_(args) {}

  nlohmann::json measure(const ResizeCase& c) {
    const Image image = test::noise_image(c.shape);
    const ResizePlan plan = plan_resize(c.shape, c.rows, c.cols, weights_);
    Image found(plan.shapes.back());
    const nlohmann::json copy_ms = milliseconds(args_.repeats, [&] { copy_of(image); });
    const nlohmann::json cpu_ms = milliseconds(args_.repeats, [&] { resize_on_cpu(image, c); });
    const nlohmann::json gpu_ms =
        milliseconds(args_.repeats, [&] { worker_.resize(image, plan, found); });
    const double cpu_rate = images_per_second(image, c, false);
    const double gpu_rate = images_per_second(image, c, true);
    const bool is_chosen = is_resized_faster_on_gpu(c.shape, c.rows, c.cols);
    const double cpu = double(cpu_ms["median"]) - double(copy_ms["median"]);
    std::fprintf(stderr,
                 "%-40s CPU %8.3f ms, GPU %8.3f ms%s; %d threads: %8.1f and %8.1f images/s\n",
                 c.name, cpu, double(gpu_ms["median"]), is_chosen ? "" : " (not used)",
                 args_.threads, cpu_rate, gpu_rate);
    return {{"name", c.name},
            {"is_gpu_used", is_chosen},
            {"copy_ms", copy_ms},  // included in cpu_ms
            {"cpu_ms", cpu_ms},
            {"gpu_ms", gpu_ms},
            {"threads", args_.threads},
            {"cpu_images_per_s", cpu_rate},
            {"gpu_images_per_s", gpu_rate},
            {"is_equal", test::same(found, resize_on_cpu(image, c))}};
  }

 private:
  Image resize_on_cpu(const Image& image, const ResizeCase& c) {
    return preparation::resize(copy_of(image), c.rows, c.cols, weights_);
  }

  /// Of all threads, as loading does it: what the GPU does not take, a thread resizes itself.
  double images_per_second(const Image& image, const ResizeCase& c, bool with_gpu) {
    const int images = args_.repeats * args_.threads;
    std::atomic<int> next = 0;
    const double total_s = seconds([&] {
      std::vector<std::jthread> threads;
      for (int t = 0; t < args_.threads; ++t) {
        threads.emplace_back([&] {
          while (next++ < images) {
            if (!with_gpu || !resizer_.try_resize(image, c.rows, c.cols)) resize_on_cpu(image, c);
          }
        });
      }
    });
    return images / total_s;
  }

  const ResizeBenchArgs args_;
  preparation::WeightCache weights_;
  ResizeWorker worker_{0};
  ImageResizer resizer_{{0}, kMaxBytes};
};

nlohmann::json run(const ResizeBenchArgs& args) {
  ResizeBenchmark benchmark(args);
  nlohmann::json results = nlohmann::json::array();
  for (const ResizeCase& c : kCases) results.push_back(benchmark.measure(c));
  return results;
}

}  // namespace
}  // namespace eckart::compute::cuda

int main(int argc, char** argv) {
  eckart::compute::cuda::ResizeBenchArgs args;
  CLI::App app("Resizing on the CPU and on GPU 0", "resize_bench");
  app.add_option("--repeats", args.repeats, "Images per measurement, and per thread")
      ->check(CLI::Range(1, 10000));
  app.add_option("--threads", args.threads, "Threads that resize together")
      ->check(CLI::Range(1, 1000));
  CLI11_PARSE(app, argc, argv);
  return eckart::compute::cuda::bench::print_result(
      "resize_bench", [&] { return eckart::compute::cuda::run(args); });
}
