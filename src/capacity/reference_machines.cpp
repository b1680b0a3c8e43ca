#include "capacity/reference_machines.hpp"

#include <cmath>
#include <stdexcept>

namespace eckart::capacity {
namespace {

/// The source of all figures below. A test compares them with it.
constexpr const char* kSource = "docs/results/2026-11-23-scaling-h200.json";

const std::vector<ReferenceWork> kH200 = {
    {.work = "MRI slices, 256 x 256 JPEG, k = 20",
     .pixels = 256.0 * 256,
     .rates = {{1, {1464.2, 1284.2, 1588.2, 1546.2, 1376.5, 1424.8}},
               {2, {3183.6, 3026.7, 3243.4, 3290.0, 2948.7, 3335.4}},
               {4, {5937.1, 5977.7, 5264.3, 5300.5, 6506.2, 6247.0}},
               {8, {11799.5, 10950.1, 11235.4, 11939.7, 12759.9, 12943.9}},
               {16, {17199.7, 17673.9, 22944.9}}}},
    {.work = "Kodak photographs, 768 x 512 PNG, k = 20",
     .pixels = 768.0 * 512,
     .rates = {{1, {33.0, 34.0, 35.1}},
               {2, {63.8, 65.3, 68.4}},
               {4, {129.1, 88.9, 129.9, 118.5}},
               {8, {201.8, 203.7, 199.6}},
               {16, {363.2}}}}};

}  // namespace

std::string reference_source() { return kSource; }

const std::vector<ReferenceWork>& reference_works(const std::string& name) {
  if (name != "h200")
    throw std::invalid_argument("'" + name + "' is not a recorded machine. Accepted: h200");
  return kH200;
}

std::vector<LoggedRun> reference_runs(const std::string& name) {
  constexpr double kSeconds = 60;  // the records have rates, not times; long enough for a rate
  std::vector<LoggedRun> runs;
  for (const ReferenceWork& work : reference_works(name)) {
    for (const auto& [cores, rates] : work.rates) {
      for (const double rate : rates) {
        LoggedRun run{.id = std::to_string(runs.size()),
                      .command = "run",
                      .cpu = "Intel Xeon",
                      .backend = "cuda",
                      .device = "NVIDIA H200",
                      .cores = cores,
                      .gpus = {"NVIDIA H200"},
                      .recorded_work = work.work,
                      .recorded_source = kSource};
        ThroughputSample total{.elapsed_s = kSeconds, .interval_s = kSeconds};
        total.done = std::llround(rate * kSeconds);
        total.pixels = std::llround(double(total.done) * work.pixels);
        run.total = total;
        runs.push_back(run);
      }
    }
  }
  return runs;
}

}  // namespace eckart::capacity
