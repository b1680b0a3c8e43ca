#include "cli/backend_check.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "core/instant.hpp"
#include "core/quality.hpp"
#include "core/round_up.hpp"
#include "synth/synth.hpp"

namespace eckart::cli {
namespace {

constexpr int kSide = 256;
constexpr int kRank = 20;

compute::Task make_task() {
  compute::Task task;
  task.input = synth::synthesize(
      {.kind = synth::SynthKind::texture, .rows = kSide, .cols = kSide, .channels = 1, .seed = 1});
  task.ranks = {kRank};
  task.outputs.emplace_back(task.input.shape());
  task.results.emplace_back(1);
  return task;
}

/// Lane i is on GPU i modulo their number, so this is also the number of lanes on different
/// devices.
int device_count(const compute::Backend& backend) {
  return std::max(1, int(backend.gpu_bus_ids().size()));
}

/// Returns the squared error of the output, in levels^2.
double squared_error(const compute::Task& task) {
  const auto in = task.input.plane<std::uint8_t>(0), out = task.outputs[0].plane<std::uint8_t>(0);
  double sum = 0;
  for (int i = 0; i < kSide * kSide; ++i) {
    const int difference = int(in.data[i]) - int(out.data[i]);
    sum += difference * difference;
  }
  return sum;
}

}  // namespace

compute::Task reconstruct_check_image(compute::Backend& backend, int lane) {
  compute::Task task = make_task();
  compute::Task* const tasks[] = {&task};
  const auto made = backend.make_lane(lane);
  made->start(0, compute::batch_key(task, kDefaultPadMultiple), tasks);
  made->finish(0);
  return task;
}

void MaxDifference::add(const compute::Task& task, const compute::Task& reference) {
  failed = failed || !task.error.empty();
  const auto a = task.outputs[0].plane<std::uint8_t>(0),
             b = reference.outputs[0].plane<std::uint8_t>(0);
  int different = 0;
  for (int i = 0; i < kSide * kSide; ++i) {
    const int difference = std::abs(int(a.data[i]) - int(b.data[i]));
    different += difference != 0;
    levels = std::max(levels, difference);
  }
  samples = std::max(samples, different);
  loss_db = std::max(loss_db, 10 * std::log10(squared_error(task) / squared_error(reference)));
}

bool MaxDifference::is_acceptable() const {
  return !failed && levels <= 1 && loss_db <= kMaxLossDb;
}

BackendCheck check_backend(compute::Backend& backend, const compute::Task& reference,
                           LanesToCheck lanes) {
  BackendCheck check{.name = backend.name(),
                     .description = backend.description(),
                     .details = backend.details(),
                     .warnings = backend.warnings(),
                     .devices = device_count(backend),
                     .lanes = backend.lanes()};
  check.lanes_checked =
      lanes == LanesToCheck::all ? check.lanes : std::min(check.lanes, check.devices);
  for (int lane = 0; lane < check.lanes_checked; ++lane) {
    const auto start = Clock::now();
    check.difference.add(reconstruct_check_image(backend, lane), reference);
    const std::chrono::duration<double, std::milli> time = Clock::now() - start;
    if (lane == 0) check.first_batch_ms = time.count();
  }
  return check;
}

void print(const BackendCheck& check) {
  const MaxDifference& difference = check.difference;
  std::printf("%-8s %s: %s\n", check.name.c_str(), difference.is_acceptable() ? "ok" : "WRONG",
              check.description.c_str());
  for (const auto* lines : {&check.details, &check.warnings})
    for (const std::string& line : *lines) std::printf("         %s\n", line.c_str());
  std::printf(
      "         %d x %d at rank %d, on %d of %d lanes: %d of %d samples differ from the float64 "
      "SVD, by %d at most; loss %.1g dB; first batch %.0f ms\n",
      kSide, kSide, kRank, check.lanes_checked, check.lanes, difference.samples, kSide * kSide,
      difference.levels, difference.loss_db, check.first_batch_ms);
  if (difference.failed) std::printf("         the solver did not converge\n");
}

text::Json to_json(const BackendCheck& check) {
  const MaxDifference& difference = check.difference;
  const char* passed = check.warnings.empty() ? "ok" : "warning";
  return {{"name", check.name},
          {"result", difference.is_acceptable() ? passed : "failed"},
          {"description", check.description},
          {"properties", check.details},
          {"warnings", check.warnings},
          {"devices", check.devices},
          {"lanes", check.lanes},
          {"lanes_checked", check.lanes_checked},
          {"converged", !difference.failed},
          {"different_samples", difference.samples},
          {"max_difference_levels", difference.levels},
          {"loss_db",
           std::isfinite(difference.loss_db) ? text::Json(difference.loss_db) : text::Json()},
          {"first_batch_ms", check.first_batch_ms}};
}

}  // namespace eckart::cli
