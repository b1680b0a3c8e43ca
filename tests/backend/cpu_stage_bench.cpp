// Benchmark of the CPU backend's compute stage on one lane, and so on one core, from pixels to
// pixels. Reads square 8-bit gray images from a raw file. With --images the raw file is first made
// from a folder of images. Prints one JSON object to stdout.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "compute/cpu/cpu_backend.hpp"
#include "core/quality.hpp"
#include "core/rank_spec.hpp"
#include "tests/support/square_images.hpp"

namespace eckart::test {
namespace {

struct BenchArgs {
  std::filesystem::path raw, image_folder;
  int side = 256, count = 24, repeats = 10;
  std::string rank = "20";
  std::string solver = "auto";
  bool check = false, cpu_time = false;
};

std::vector<Image> read_raw(const std::filesystem::path& path, int side) {
  std::ifstream file(path, std::ios::binary);
  std::vector<Image> images;
  for (;;) {
    Image image({side, side, 1, Depth::u8});
    file.read(reinterpret_cast<char*>(image.data()), std::streamsize(image.bytes()));
    if (file.gcount() != std::streamsize(image.bytes())) break;
    images.push_back(std::move(image));
  }
  if (images.empty()) throw std::runtime_error(path.string() + " contains no image of this size");
  return images;
}

void write_raw(const std::filesystem::path& path, const std::vector<Image>& images) {
  std::ofstream file(path, std::ios::binary);
  for (const Image& image : images) {
    file.write(reinterpret_cast<const char*>(image.data()), std::streamsize(image.bytes()));
  }
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

std::vector<compute::Task> make_tasks(const std::vector<Image>& images,
                                      std::span<const RankPolicy> ranks) {
  std::vector<compute::Task> tasks(images.size());
  for (std::size_t i = 0; i < images.size(); ++i) {
    tasks[i].input = Image(images[i].shape());
    std::memcpy(tasks[i].input.data(), images[i].data(), images[i].bytes());
    tasks[i].ranks.assign(ranks.begin(), ranks.end());
    for (std::size_t output = 0; output < ranks.size(); ++output) {
      tasks[i].outputs.emplace_back(images[i].shape());
      tasks[i].results.emplace_back(1);
    }
  }
  return tasks;
}

std::unique_ptr<compute::Backend> make_backend(SolverKind solver) {
  compute::BackendOptions options;
  options.solver = solver;
  options.lanes = 1;
  return compute::cpu::make_cpu_backend(options);
}

double elapsed_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Of all threads; the lane has one.
double cpu_s() { return double(std::clock()) / CLOCKS_PER_SEC; }

/// Returns the seconds for all tasks, by this clock.
double reconstruct(compute::Lane& lane, std::vector<compute::Task>& tasks,
                   double (*clock_s)() = elapsed_s) {
  const double start = clock_s();
  for (compute::Task& task : tasks) {
    compute::Task* const batch[] = {&task};
    lane.start(0, compute::batch_key(task, 1), batch);
    lane.finish(0);
  }
  return clock_s() - start;
}

/// Compares every output with the float64 singular values of LAPACK.
nlohmann::json check(const std::vector<compute::Task>& tasks, const std::vector<Image>& images) {
  std::vector<compute::Task> exact = make_tasks(images, tasks[0].ranks);
  reconstruct(*make_backend(SolverKind::gesvd)->make_lane(0), exact);
  double max_loss = 0, sum = 0, psnr = 0, max_estimate = 0;
  int misses = 0;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    for (std::size_t output = 0; output < tasks[i].results.size(); ++output) {
      const compute::PlaneResult& result = tasks[i].results[output][0];
      const double loss = loss_db(result.residual, exact[i].results[output][0].residual);
      max_loss = std::max(max_loss, loss);
      sum += loss;
      max_estimate = std::max(max_estimate, result.loss_estimate_db);
      misses += loss > result.loss_estimate_db + 1e-6;
      psnr += psnr_db(result.residual, images[i].shape().samples(), 255);
    }
  }
  const auto count = double(tasks.size() * tasks[0].ranks.size());
  return {{"max_loss_db", max_loss},
          {"mean_loss_db", sum / count},
          {"max_loss_estimate_db", max_estimate},
          {"misses", misses},
          {"psnr_db_mean", psnr / count}};
}

/// The largest rank that was computed.
int largest_rank(const compute::Task& task) {
  int largest = 0;
  for (const auto& planes : task.results) largest = std::max(largest, planes[0].rank);
  return largest;
}

/// Returns the same images, each with the largest rank that it came to as its only one.
std::vector<compute::Task> with_fixed_ranks(const std::vector<compute::Task>& tasks,
                                            const std::vector<Image>& images) {
  const RankPolicy one[] = {1};
  std::vector<compute::Task> fixed = make_tasks(images, one);
  for (std::size_t i = 0; i < tasks.size(); ++i) fixed[i].ranks = {largest_rank(tasks[i])};
  return fixed;
}

double mean_rank(const std::vector<compute::Task>& tasks) {
  double sum = 0;
  for (const compute::Task& task : tasks) sum += largest_rank(task);
  return sum / double(tasks.size());
}

nlohmann::json run(const BenchArgs& args) {
  if (!args.image_folder.empty()) {
    write_raw(args.raw, make_square_images(read_planes(args.image_folder), args.side, args.count));
  }
  const std::vector<Image> images = read_raw(args.raw, args.side);
  const std::vector<RankPolicy> ranks = parse_ranks(args.rank);
  std::vector<compute::Task> tasks = make_tasks(images, ranks);
  const auto backend = make_backend(parse_enum<SolverKind>(args.solver).value());
  const auto lane = backend->make_lane(0);
  reconstruct(*lane, tasks);  // warm-up
  std::vector<compute::Task> fixed = with_fixed_ranks(tasks, images);
  reconstruct(*lane, fixed);
  const auto clock_s = args.cpu_time ? cpu_s : elapsed_s;
  std::vector<double> rates, fixed_rates;
  for (int i = 0; i < args.repeats; ++i) {
    rates.push_back(double(tasks.size()) / reconstruct(*lane, tasks, clock_s));
    fixed_rates.push_back(double(tasks.size()) / reconstruct(*lane, fixed, clock_s));
  }
  for (const compute::Task& task : tasks) {
    if (!task.error.empty()) throw std::runtime_error(task.error);
  }
  nlohmann::json result = {{"side", args.side},
                           {"rank", args.rank},
                           {"mean_largest_rank", mean_rank(tasks)},
                           {"images", tasks.size()},
                           {"clock", args.cpu_time ? "cpu" : "elapsed"},
                           {"backend", backend->description()},
                           {"details", backend->details()},
                           {"images_per_s", rates},
                           {"images_per_s_at_largest_rank", fixed_rates}};
  if (args.check) result.update(check(tasks, images));
  return result;
}

}  // namespace
}  // namespace eckart::test

int main(int argc, char** argv) {
  eckart::test::BenchArgs args;
  CLI::App app("Benchmark of the CPU backend's compute stage on one lane", "cpu_stage_bench");
  app.add_option("raw", args.raw, "Raw file of images")->required();
  app.add_option("--images", args.image_folder,
                 "Input folder of images; the raw file is made from them first");
  app.add_option("--count", args.count, "Number of images to make");
  app.add_option("--side", args.side, "Rows and columns of an image");
  app.add_option("--rank", args.rank,
                 "As --rank of eckart run; the baseline is the largest rank of each image alone");
  app.add_option("--solver", args.solver);
  app.add_option("--repeats", args.repeats, "Timed passes over the images");
  app.add_flag("--cpu-time", args.cpu_time,
               "Count CPU time, on a machine with other load; default: elapsed time");
  app.add_flag("--check", args.check, "Compare every image's loss with the float64 solver");
  CLI11_PARSE(app, argc, argv);
  try {
    std::printf("%s\n", eckart::test::run(args).dump().c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cpu_stage_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
