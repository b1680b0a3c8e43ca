// The compute stage alone, its data on the device: unpack, factor, reconstruct. Real images,
// resized or cropped to the case's size; every image's loss is measured against the CPU's float64.
// One JSON object on stdout.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "compute/cpu/cpu_backend.hpp"
#include "compute/cuda/cuda_backend.hpp"
#include "compute/cuda/lane.hpp"
#include "core/quality.hpp"
#include "flow/workers.hpp"
#include "tests/support/square_images.hpp"

namespace eckart {
namespace {

struct Case {
  int side, rank;
};

struct BenchArgs {
  std::filesystem::path images, raw;
  std::vector<std::string> cases{"256:20", "256:100", "512:50"};
  std::string solver = "auto";
  int repeats = 20, lanes = 2, planes = 0;
};

std::vector<Task> make_tasks(const std::vector<Image>& inputs) {
  std::vector<Task> tasks;
  for (const Image& input : inputs) {
    Task task;
    task.input = Image(input.shape());
    std::memcpy(task.input.data(), input.data(), input.bytes());
    task.outputs.emplace_back(input.shape());
    task.results.emplace_back(1);
    tasks.push_back(std::move(task));
  }
  return tasks;
}

/// Squared errors of the optimum, by the CPU backend.
std::vector<double> optimal_errors(const std::vector<Image>& inputs, int rank) {
  BackendOptions options;
  options.ranks = {{rank}};
  options.solver = SolverKind::gram;  // float64
  const auto backend = make_cpu_backend(options);
  std::vector<Task> tasks = make_tasks(inputs);
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < backend->lanes(); ++t) {
    threads.emplace_back([&] {
      const auto lane = backend->make_lane(0);
      for (std::size_t i; (i = next++) < tasks.size();) {
        Task* const batch[] = {&tasks[i]};
        lane->start(0, {}, batch);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<double> errors;
  for (const Task& task : tasks) errors.push_back(task.results[0][0].residual);
  return errors;
}

double squared_norm(const Image& image) {
  double sum = 0;
  for (std::size_t i = 0; i < image.bytes(); ++i) sum += std::pow(double(image.data()[i]), 2);
  return sum;
}

std::vector<Task*> pointers(std::vector<Task>& tasks) {
  std::vector<Task*> result;
  for (Task& task : tasks) result.push_back(&task);
  return result;
}

/// For a thread that failed while others wait for it.
void end_process(std::exception_ptr error) {
  try {
    std::rethrow_exception(std::move(error));
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "stage_bench: %s\n", failure.what());
  } catch (...) {
    std::fprintf(stderr, "stage_bench: unknown failure\n");
  }
  std::_Exit(1);
}

/// One lane's whole life, on a thread of its own: a batch from host to host, whose results are left
/// in `tasks`, then batches in both slots, again and again; packing and the copy in are not between
/// the two barriers.
void live(Backend& backend, int index, PaddedShape shape, int rounds, std::vector<Task>& tasks,
          int& retries, std::barrier<>& together) {
  const std::unique_ptr<Lane> owner = backend.make_lane(index);
  auto& lane = dynamic_cast<cuda::CudaLane&>(*owner);
  lane.start(0, shape, pointers(tasks));
  lane.finish(0);
  retries = lane.retries();
  for (int round = 0; round < rounds; ++round) {
    for (int slot = 0; slot < lane.slots(); ++slot) {
      lane.slot(slot).pack(shape, pointers(tasks), int(tasks.size()), int(tasks.size()), 1,
                           lane.stream());
    }
    ECKART_CUDA_CHECK(cudaStreamSynchronize(lane.stream()));
    together.arrive_and_wait();
    for (int slot = 0; slot < lane.slots(); ++slot) lane.compute(lane.slot(slot));
    ECKART_CUDA_CHECK(cudaStreamSynchronize(lane.stream()));
    together.arrive_and_wait();
  }
}

nlohmann::json run_case(const Case& c, const BenchArgs& args, const std::vector<cv::Mat>& images) {
  BackendOptions options;
  options.ranks = {{c.rank}};
  options.solver = parse_solver(args.solver);
  options.lanes = args.lanes;
  options.batch_images = args.planes;
  const auto backend = cuda::make_cuda_backend(options);
  const PaddedShape shape = padded_shape({c.side, c.side, 1, Depth::u8}, 32);
  const int planes = backend->batch_planes(shape);
  const std::vector<Image> inputs = testing::make_square_images(images, c.side, planes);
  constexpr int kWarmUp = 3;
  std::vector<std::vector<Task>> tasks;
  std::vector<int> retries(std::size_t(args.lanes));
  for (int i = 0; i < args.lanes; ++i) tasks.push_back(make_tasks(inputs));
  std::barrier together(args.lanes + 1);
  flow::Workers lanes(
      "lane", args.lanes,
      [&](int i) {
        live(*backend, i, shape, kWarmUp + args.repeats, tasks[std::size_t(i)],
             retries[std::size_t(i)], together);
      },
      end_process);
  std::vector<double> rates;
  for (int i = 0; i < kWarmUp + args.repeats; ++i) {
    together.arrive_and_wait();
    const auto start = std::chrono::steady_clock::now();
    together.arrive_and_wait();
    const double s =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (i >= kWarmUp) rates.push_back(2.0 * planes * args.lanes / s);
  }
  lanes.join();
  std::sort(rates.begin(), rates.end());

  const std::vector<double> optimum = optimal_errors(inputs, c.rank);
  double largest = 0, sum = 0, psnr = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const PlaneResult& result = tasks[0][i].results[0][0];
    const double loss = loss_db(result.residual, optimum[i], squared_norm(inputs[i]));
    if (!tasks[0][i].error.empty()) throw std::runtime_error(tasks[0][i].error);
    largest = std::max(largest, std::isnan(loss) ? 1e9 : loss);
    sum += loss;
    psnr += psnr_db(result.residual, inputs[i].shape().samples(), 255);
  }
  if (!args.raw.empty()) {  // the same images for the peers
    std::ofstream raw(args.raw / ("images_" + std::to_string(c.side) + ".raw"), std::ios::binary);
    for (const Image& image : inputs)
      raw.write(reinterpret_cast<const char*>(image.data()), std::streamsize(image.bytes()));
  }
  return {{"side", c.side},
          {"rank", c.rank},
          {"planes_per_batch", planes},
          {"lanes", args.lanes},
          {"solver", args.solver},
          {"repeats", args.repeats},
          {"retries", retries[0]},
          {"images_per_s",
           {{"median", rates[rates.size() / 2]}, {"min", rates.front()}, {"max", rates.back()}}},
          {"loss_db", {{"largest", largest}, {"mean", sum / double(inputs.size())}}},
          {"psnr_db_mean", psnr / double(inputs.size())}};
}

nlohmann::json run(const BenchArgs& args) {
  const std::vector<cv::Mat> images = testing::read_planes(args.images);
  nlohmann::json results = nlohmann::json::array();
  for (const std::string& text : args.cases) {
    const std::size_t colon = text.find(':');
    const Case c{std::stoi(text.substr(0, colon)), std::stoi(text.substr(colon + 1))};
    results.push_back(run_case(c, args, images));
    std::fprintf(stderr, "%s\n", results.back().dump().c_str());
  }
  return results;
}

}  // namespace
}  // namespace eckart

int main(int argc, char** argv) {
  eckart::BenchArgs args;
  CLI::App app("The CUDA compute stage with its data on the device", "stage_bench");
  app.add_option("images", args.images, "Folder of images")->required();
  app.add_option("--cases", args.cases, "side:rank ...");
  app.add_option("--solver", args.solver);
  app.add_option("--repeats", args.repeats);
  app.add_option("--lanes", args.lanes);
  app.add_option("--planes", args.planes, "Planes a batch; 0 for the backend's choice");
  app.add_option("--raw", args.raw, "Folder for the images used, raw, one after the other");
  CLI11_PARSE(app, argc, argv);
  try {
    std::printf("%s\n", eckart::run(args).dump(1).c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "stage_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
