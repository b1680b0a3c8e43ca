// Benchmark of the compute stage with its data on the device: unpack, factor, reconstruct. Uses
// real images, resized or cropped to the size of the case. Measures every image's loss against
// float64 on the CPU. Prints one JSON object to stdout.
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
#include <numeric>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "compute/cpu/cpu_backend.hpp"
#include "compute/cuda/cuda_backend.hpp"
#include "core/quality.hpp"
#include "core/rank_spec.hpp"
#include "flow/workers.hpp"
#include "tests/backend/cuda/bench/print_result.hpp"
#include "tests/backend/cuda/lane_benchmark.hpp"
#include "tests/support/square_images.hpp"

namespace eckart {
namespace {

using compute::cuda::Transfers;
using test::BusySpan;

struct StageCase {
  int side;
  std::string spec;  ///< of `ranks`
  std::vector<RankPolicy> ranks;
};

struct StageBenchArgs {
  std::filesystem::path folder, raw, trace;
  std::vector<std::string> cases{"256:20", "256:100", "512:50"};
  std::string solver = "auto";
  std::vector<int> devices;
  int repeats = 20, lanes = 0, planes = 0, batches = 16, shrink = 0, depth = 8;
  bool has_factors = false;
};

std::vector<compute::Task> make_tasks(const std::vector<Image>& inputs,
                                      std::span<const RankPolicy> ranks) {
  std::vector<compute::Task> tasks;
  for (const Image& input : inputs) {
    compute::Task task;
    task.input = Image(input.shape());
    std::memcpy(task.input.data(), input.data(), input.bytes());
    task.ranks.assign(ranks.begin(), ranks.end());
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      task.outputs.emplace_back(input.shape());
      task.results.emplace_back(1);
    }
    tasks.push_back(std::move(task));
  }
  return tasks;
}

/// [image][output] The squared errors of the best matrices of the same ranks as these results,
/// computed by the CPU backend.
std::vector<std::vector<double>> optimal_errors(const std::vector<Image>& inputs,
                                                const std::vector<compute::Task>& results) {
  compute::BackendOptions options;
  options.solver = SolverKind::gram;  // float64
  const auto backend = compute::cpu::make_cpu_backend(options);
  std::vector<compute::Task> tasks = make_tasks(inputs, results[0].ranks);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    for (std::size_t output = 0; output < tasks[i].ranks.size(); ++output)
      tasks[i].ranks[output] = results[i].results[output][0].rank;
  }
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < backend->lanes(); ++t) {
    threads.emplace_back([&] {
      const auto lane = backend->make_lane(0);
      for (std::size_t i; (i = next++) < tasks.size();) {
        compute::Task* const batch[] = {&tasks[i]};
        lane->start(0, {}, batch);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<std::vector<double>> errors(tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    for (const auto& planes : tasks[i].results) errors[i].push_back(planes[0].residual);
  }
  return errors;
}

/// Ends the process if a thread fails, because other threads wait for it at a barrier.
void exit_on_failure(std::exception_ptr error) {
  try {
    std::rethrow_exception(std::move(error));
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "stage_bench: %s\n", failure.what());
  } catch (...) {
    std::fprintf(stderr, "stage_bench: unknown failure\n");
  }
  std::_Exit(1);
}

nlohmann::json spread(const std::vector<double>& sorted) {
  return {{"median", sorted[sorted.size() / 2]}, {"min", sorted.front()}, {"max", sorted.back()}};
}

/// Crops the images by up to `shrink` rows and columns, in cycles.
std::vector<Image> shrink_images(std::vector<Image> images, int shrink) {
  if (shrink == 0) return images;
  for (std::size_t i = 0; i < images.size(); ++i) {
    const auto whole = images[i].plane<std::uint8_t>(0);
    Image part({whole.rows - int(i * 7) % (shrink + 1), whole.cols - int(i * 11) % (shrink + 1), 1,
                Depth::u8});
    const auto to = part.plane<std::uint8_t>(0);
    for (int row = 0; row < to.rows; ++row) {
      for (int col = 0; col < to.cols; ++col) to(row, col) = whole(row, col);
    }
    images[i] = std::move(part);
  }
  return images;
}

/// The shares of time in which the engines of the first device were busy. The beginning and the end
/// of `spans` are not counted.
nlohmann::json overlap(const std::vector<BusySpan>& spans) {
  double begin = spans.front().begin, end = begin;
  for (const BusySpan& span : spans) {
    begin = std::min(begin, span.begin);
    end = std::max(end, span.end);
  }
  const double margin = (end - begin) / 8;  // excludes start and end of the lanes
  const test::Overlap found = test::measure_overlap(spans, begin + margin, end - margin);
  return {{"copy_in", found.busy[BusySpan::copy_in]},
          {"compute", found.busy[BusySpan::compute]},
          {"copy_out", found.busy[BusySpan::copy_out]},
          {"all_busy", found.all_busy},
          {"copying_while_computing", found.copying_while_computing},
          {"idle", found.idle}};
}

/// An event on each GPU in use. Times are measured from it.
std::vector<compute::cuda::TimingEvent> make_origins(std::vector<int> devices) {
  int found = 0;
  ECKART_CUDA_CHECK(cudaGetDeviceCount(&found));
  if (devices.empty()) {
    devices.resize(std::size_t(found));
    std::iota(devices.begin(), devices.end(), 0);
  }
  std::vector<compute::cuda::TimingEvent> origins;
  for (const int device : devices) {
    ECKART_CUDA_CHECK(cudaSetDevice(device));
    origins.push_back(compute::cuda::make_timing_event());
    ECKART_CUDA_CHECK(cudaEventRecord(origins.back().get(), nullptr));
  }
  return origins;
}

/// Writes a trace for chrome://tracing and Perfetto: one row per lane and engine, times in
/// microseconds.
void write_trace(const std::filesystem::path& path,
                 const std::vector<std::vector<BusySpan>>& spans_of_lanes) {
  nlohmann::json events = nlohmann::json::array();
  const char* const names[] = {"copy in", "compute", "copy out"};
  for (std::size_t lane = 0; lane < spans_of_lanes.size(); ++lane) {
    for (const BusySpan& span : spans_of_lanes[lane]) {
      events.push_back({{"name", names[span.engine]},
                        {"ph", "X"},
                        {"pid", lane},
                        {"tid", int(span.engine)},
                        {"ts", 1000 * span.begin},
                        {"dur", 1000 * (span.end - span.begin)}});
    }
  }
  std::ofstream(path) << nlohmann::json{{"traceEvents", events}}.dump();
}

nlohmann::json run_case(const StageCase& c, const StageBenchArgs& args,
                        const std::vector<cv::Mat>& images) {
  compute::BackendOptions options;
  options.solver = parse_enum<SolverKind>(args.solver).value();
  options.lanes = args.lanes;
  options.batch_planes = args.planes;
  options.devices = args.devices;
  const auto backend = compute::cuda::make_cuda_backend(options);
  const int lane_count = backend->lanes();
  const Depth depth = args.depth == 16 ? Depth::u16 : Depth::u8;
  compute::BatchKey key{compute::padded_shape({c.side, c.side, 1, depth}, 32), c.ranks};
  if (args.has_factors) key.min_factor_rank = 0;
  const int planes = backend->batch_planes(key);
  const std::vector<Image> inputs =
      shrink_images(test::make_square_images(images, c.side, planes, depth), args.shrink);
  constexpr int kWarmUp = 3;
  const int traced_batches = std::min(24, 4 * args.batches);
  std::vector<std::vector<compute::Task>> tasks;
  std::vector<double> recomputed_per_mille(std::size_t(lane_count), 0.0);
  std::vector<std::vector<BusySpan>> spans(std::size_t(lane_count), std::vector<BusySpan>{});
  for (int i = 0; i < lane_count; ++i) tasks.push_back(make_tasks(inputs, key.ranks));
  const std::vector<compute::cuda::TimingEvent> origins = make_origins(args.devices);
  std::barrier start_barrier(lane_count + 1);
  flow::Workers lanes(
      "lane", lane_count,
      [&](int i) {
        compute::cuda::LaneBenchmark benchmark(*backend, i, key, tasks[std::size_t(i)]);
        for (const Transfers transfers : {Transfers::none, Transfers::pinned})
          benchmark.time(transfers, kWarmUp + args.repeats, args.batches, start_barrier);
        recomputed_per_mille[std::size_t(i)] = benchmark.recomputed_per_mille();
        compute::cuda::SpanRecorder recorder;
        benchmark.time(Transfers::pinned, 1, traced_batches, start_barrier, &recorder);
        spans[std::size_t(i)] = recorder.read(origins[std::size_t(i) % origins.size()]);
      },
      exit_on_failure);
  std::map<Transfers, std::vector<double>> rates;
  for (const Transfers transfers : {Transfers::none, Transfers::pinned}) {
    for (int i = 0; i < kWarmUp + args.repeats; ++i) {
      start_barrier.arrive_and_wait();
      const auto start = std::chrono::steady_clock::now();
      start_barrier.arrive_and_wait();
      const double s =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      if (i >= kWarmUp) rates[transfers].push_back(double(args.batches) * planes * lane_count / s);
    }
    std::sort(rates[transfers].begin(), rates[transfers].end());
  }
  for (int i = 0; i < 2; ++i) start_barrier.arrive_and_wait();  // the traced batches
  lanes.join();

  std::vector<BusySpan> spans_of_first;
  for (std::size_t i = 0; i < spans.size(); i += origins.size())
    spans_of_first.insert(spans_of_first.end(), spans[i].begin(), spans[i].end());
  if (!args.trace.empty()) write_trace(args.trace, spans);

  const std::vector<std::vector<double>> optimum = optimal_errors(inputs, tasks[0]);
  double max_loss = 0, sum = 0, psnr = 0, max_estimate = 0, rank_sum = 0;
  int misses = 0, largest_rank = 0;
  const compute::PlaneResult* worst = nullptr;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!tasks[0][i].error.empty()) throw std::runtime_error(tasks[0][i].error);
    for (std::size_t output = 0; output < c.ranks.size(); ++output) {
      const compute::PlaneResult& result = tasks[0][i].results[output][0];
      const double loss = loss_db(result.residual, optimum[i][output]);
      rank_sum += result.rank;
      largest_rank = std::max(largest_rank, result.rank);
      if (!worst || !(loss <= max_loss)) {
        max_loss = std::isnan(loss) ? 1e9 : loss;
        worst = &result;
      }
      sum += loss;
      max_estimate = std::max(max_estimate, result.loss_estimate_db);
      misses += loss > result.loss_estimate_db + 1e-6;
      psnr +=
          psnr_db(result.residual, inputs[i].shape().samples(), depth == Depth::u16 ? 65535 : 255);
    }
  }
  const double results = double(inputs.size() * c.ranks.size());
  if (!args.raw.empty()) {  // the same images for the baselines
    std::ofstream raw(args.raw / ("images_" + std::to_string(c.side) + ".raw"), std::ios::binary);
    for (const Image& image : inputs)
      raw.write(reinterpret_cast<const char*>(image.data()), std::streamsize(image.bytes()));
  }
  return {{"side", c.side},
          {"rank", c.spec},
          {"mean_rank", rank_sum / results},
          {"largest_rank", largest_rank},
          {"bits", args.depth},
          {"planes_per_batch", planes},
          {"lanes", lane_count},
          {"max_shrink_pixels", args.shrink},
          {"solver", args.solver},
          {"repeats", args.repeats},
          {"recomputed_per_mille", recomputed_per_mille[0]},
          {"batches_per_lane", args.batches},
          {"images_per_s", spread(rates[Transfers::none])},
          {"images_per_s_pinned_to_pinned", spread(rates[Transfers::pinned])},
          {"pinned_to_pinned_time_shares", overlap(spans_of_first)},
          {"max_loss_db", max_loss},
          {"worst",
           {{"rank", worst->rank},
            {"solver", to_string(*worst->solver)},
            {"loss_estimate_db", worst->loss_estimate_db}}},
          {"mean_loss_db", sum / results},
          {"max_loss_estimate_db", max_estimate},
          {"misses", misses},
          {"psnr_db_mean", psnr / results}};
}

nlohmann::json run(const StageBenchArgs& args) {
  const std::vector<cv::Mat> images = test::read_planes(args.folder);
  nlohmann::json results = nlohmann::json::array();
  for (const std::string& text : args.cases) {
    const std::size_t colon = text.find(':');
    const int side = std::stoi(text.substr(0, colon));
    const auto add = [&](const std::string& spec) {
      results.push_back(run_case({side, spec, parse_ranks(spec)}, args, images));
      std::fprintf(stderr, "%s\n", results.back().dump().c_str());
    };
    const std::string spec = text.substr(colon + 1);
    add(spec);
    if (parse_ranks(spec)[0].kind != RankPolicy::Kind::rank)  // to compare: their mean, fixed
      add(std::to_string(std::lround(double(results.back()["mean_rank"]))));
  }
  return results;
}

}  // namespace
}  // namespace eckart

int main(int argc, char** argv) {
  eckart::StageBenchArgs args;
  CLI::App app("The CUDA compute stage with its data on the device", "stage_bench");
  app.add_option("folder", args.folder, "Input folder of images")->required();
  app.add_option("--cases", args.cases,
                 "side:SPEC ...; SPEC as --rank of eckart run; a range for several outputs");
  app.add_option("--solver", args.solver);
  app.add_option("--repeats", args.repeats);
  app.add_option("--lanes", args.lanes, "Lanes; 0: chosen by the backend");
  app.add_option("--devices", args.devices, "GPU numbers, comma-separated; default: all")
      ->delimiter(',');
  app.add_flag("--factors", args.has_factors, "Give the factors too");
  CLI::Option* shrink =
      app.add_option("--shrink", args.shrink, "Shrink images by up to this many rows and columns");
  app.add_option("--depth", args.depth, "Bits per sample")
      ->check(CLI::IsMember({8, 16}))
      ->excludes(shrink);
  app.add_option("--trace", args.trace,
                 "Write a trace of each lane's copies and computation to this file");
  app.add_option("--planes", args.planes, "Planes per batch; 0: chosen by the backend");
  app.add_option("--batches", args.batches, "Batches per lane and measurement")
      ->check(CLI::Range(2, 10000));
  app.add_option("--raw", args.raw, "Write the images used to this folder, as raw pixels");
  CLI11_PARSE(app, argc, argv);
  return eckart::compute::cuda::bench::print_result("stage_bench",
                                                    [&] { return eckart::run(args); });
}
