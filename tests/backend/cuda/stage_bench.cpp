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
#include <map>
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
  std::filesystem::path folder, raw;
  std::vector<std::string> cases{"256:20", "256:100", "512:50"};
  std::string solver = "auto";
  int repeats = 20, lanes = 3, planes = 0, images = 4096;
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

/// What is timed between the barriers.
enum class Bus { none, pinned };

/// One lane's whole life, on a thread of its own: a batch from host to host, whose results are left
/// in `tasks`, then batches in both slots, again and again. Nothing is packed between the barriers:
/// on `Bus::none` the data lies on the device and stays there, on `Bus::pinned` it is copied in
/// from pinned memory and out to it.
class LaneLife {
 public:
  LaneLife(Backend& backend, int index, PaddedShape shape, std::vector<Task>& tasks)
      : owner_(backend.make_lane(index)),
        lane_(dynamic_cast<cuda::CudaLane&>(*owner_)),
        shape_(shape),
        tasks_(pointers(tasks)) {
    lane_.start(0, shape_, tasks_);
    lane_.finish(0);
  }
  /// Planes of 1,000 that the first solver has left to others in what was timed.
  double retries_per_mille() const { return 1000.0 * double(retries_) / double(planes_); }

  void time(Bus bus, int rounds, int batches, std::barrier<>& together) {
    for (int slot = 0; slot < lane_.slots(); ++slot) {
      lane_.slot(slot).pack(shape_, tasks_, int(tasks_.size()), int(tasks_.size()), 1,
                            lane_.streams());
    }
    for (int round = 0; round < rounds; ++round) {
      ECKART_CUDA_CHECK(cudaDeviceSynchronize());
      const int retries = lane_.retries();
      together.arrive_and_wait();
      for (int i = 0; i < batches + lane_.slots(); ++i) {
        cuda::Slot& slot = lane_.slot(i % lane_.slots());
        if (i >= lane_.slots() && !lane_.settle(slot, false).empty())
          throw std::runtime_error("a plane was not settled");
        if (i >= batches) continue;
        slot.keep_only(all(slot), int(tasks_.size()), lane_.streams());
        if (bus == Bus::pinned) slot.copy_in(lane_.streams());
        lane_.compute(slot);
        if (bus == Bus::pinned) slot.copy_out_pixels(lane_.streams());
      }
      together.arrive_and_wait();
      retries_ += lane_.retries() - retries;
      planes_ += std::int64_t(batches) * std::int64_t(tasks_.size());
    }
  }

 private:
  /// A slot's planes before any of them was left out.
  std::vector<cuda::Owner> all(const cuda::Slot& slot) {
    std::vector<cuda::Owner>& known = all_[&slot];
    if (known.empty()) known.assign(slot.owners().begin(), slot.owners().end());
    return known;
  }

  const std::unique_ptr<Lane> owner_;
  cuda::CudaLane& lane_;
  const PaddedShape shape_;
  const std::vector<Task*> tasks_;
  std::map<const cuda::Slot*, std::vector<cuda::Owner>> all_;
  std::int64_t retries_ = 0, planes_ = 0;
};

nlohmann::json spread(const std::vector<double>& sorted) {
  return {{"median", sorted[sorted.size() / 2]}, {"min", sorted.front()}, {"max", sorted.back()}};
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
  const int batches = std::max(2, args.images / (planes * args.lanes));
  std::vector<std::vector<Task>> tasks;
  std::vector<double> retries(std::size_t(args.lanes));
  for (int i = 0; i < args.lanes; ++i) tasks.push_back(make_tasks(inputs));
  std::barrier together(args.lanes + 1);
  flow::Workers lanes(
      "lane", args.lanes,
      [&](int i) {
        LaneLife life(*backend, i, shape, tasks[std::size_t(i)]);
        for (const Bus bus : {Bus::none, Bus::pinned})
          life.time(bus, kWarmUp + args.repeats, batches, together);
        retries[std::size_t(i)] = life.retries_per_mille();
      },
      end_process);
  std::map<Bus, std::vector<double>> rates;
  for (const Bus bus : {Bus::none, Bus::pinned}) {
    for (int i = 0; i < kWarmUp + args.repeats; ++i) {
      together.arrive_and_wait();
      const auto start = std::chrono::steady_clock::now();
      together.arrive_and_wait();
      const double s =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      if (i >= kWarmUp) rates[bus].push_back(double(batches) * planes * args.lanes / s);
    }
    std::sort(rates[bus].begin(), rates[bus].end());
  }
  lanes.join();

  const std::vector<double> optimum = optimal_errors(inputs, c.rank);
  double largest = 0, sum = 0, psnr = 0, bound = 0, broken = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const PlaneResult& result = tasks[0][i].results[0][0];
    const double loss = loss_db(result.residual, optimum[i], squared_norm(inputs[i]));
    if (!tasks[0][i].error.empty()) throw std::runtime_error(tasks[0][i].error);
    largest = std::max(largest, std::isnan(loss) ? 1e9 : loss);
    sum += loss;
    bound = std::max(bound, result.most_loss_db);
    broken += loss > result.most_loss_db + 1e-6;
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
          {"retries_per_mille", retries[0]},
          {"batches", batches},
          {"images_per_s", spread(rates[Bus::none])},
          {"images_per_s_pinned_to_pinned", spread(rates[Bus::pinned])},
          {"loss_db",
           {{"largest", largest},
            {"mean", sum / double(inputs.size())},
            {"largest_certified", bound},
            {"certificates_broken", broken}}},
          {"psnr_db_mean", psnr / double(inputs.size())}};
}

nlohmann::json run(const BenchArgs& args) {
  const std::vector<cv::Mat> images = testing::read_planes(args.folder);
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
  app.add_option("folder", args.folder, "Folder of images")->required();
  app.add_option("--cases", args.cases, "side:rank ...");
  app.add_option("--solver", args.solver);
  app.add_option("--repeats", args.repeats);
  app.add_option("--lanes", args.lanes);
  app.add_option("--planes", args.planes, "Planes a batch; 0 for the backend's choice");
  app.add_option("--images", args.images, "Images a measurement, about");
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
