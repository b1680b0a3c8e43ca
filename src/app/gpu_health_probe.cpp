#include "app/gpu_health_probe.hpp"

#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "core/error.hpp"
#include "core/round_up.hpp"

namespace eckart::app {
namespace {

constexpr ImageShape kShape{64, 48, 1, Depth::u8};
constexpr int kRank = 2;

/// Returns the image a_ij = u_i v_j, at most 5 x 48 = 240.
Image rank_one_image() {
  Image image(kShape);
  const auto a = image.plane<std::uint8_t>(0);
  for (int i = 0; i < kShape.rows; ++i) {
    for (int j = 0; j < kShape.cols; ++j) a(i, j) = std::uint8_t((i % 5 + 1) * (j + 1));
  }
  return image;
}

void check_gpu(compute::Lane& lane, std::size_t device) {
  compute::Task task;
  task.input = rank_one_image();
  task.ranks = {kRank};
  task.outputs.emplace_back(kShape);
  task.results.emplace_back(1);
  compute::Task* const tasks[] = {&task};
  lane.start(0, compute::batch_key(task, kDefaultPadMultiple), tasks);
  lane.finish(0);
  const bool same = std::memcmp(task.outputs[0].data(), task.input.data(), task.input.bytes()) == 0;
  if (task.error.empty() && same) return;
  throw DeviceLostError("GPU " + std::to_string(device) + " failed the health probe: " +
                        (task.error.empty() ? "wrong result for a rank-1 matrix" : task.error));
}

}  // namespace

GpuHealthProbe::GpuHealthProbe(compute::Backend& backend) {
  for (std::size_t gpu = 0; gpu < backend.gpu_bus_ids().size(); ++gpu)
    lanes_.push_back(backend.make_gpu_lane(int(gpu)));
}

void GpuHealthProbe::run() {
  for (std::size_t device = 0; device < lanes_.size(); ++device) check_gpu(*lanes_[device], device);
}

}  // namespace eckart::app
