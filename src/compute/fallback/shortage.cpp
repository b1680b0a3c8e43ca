#include "compute/fallback/shortage.hpp"

#include <algorithm>

#include "compute/make_room.hpp"

namespace eckart {
namespace {

std::string text(PaddedShape shape) {
  return std::to_string(shape.rows) + " x " + std::to_string(shape.cols);
}

std::string counted(std::int64_t count, const char* thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

}  // namespace

int Shortage::at_most(const BatchKind& kind, int planes) const {
  const std::lock_guard lock(mutex_);
  const auto known = kinds_.find(kind);
  const bool limited = known != kinds_.end() && known->second.most_planes > 0;
  return limited ? std::min(planes, known->second.most_planes) : planes;
}

void Shortage::batch_did_not_fit(const BatchKind& kind, int planes, const std::string& why) {
  const int half = std::max(1, planes / 2);
  {
    const std::lock_guard lock(mutex_);
    int& most = known(kind).most_planes;
    const bool first = most == 0;
    most = first ? half : std::min(most, half);
    if (!first) return;
  }
  warn_("out of GPU memory with " + counted(planes, "plane") + " of " + text(kind.shape) + " (" +
        why + "): such batches become smaller");
}

void Shortage::image_did_not_fit(const BatchKind& kind, const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(known(kind).on_cpu, true)) return;
  }
  warn_("out of GPU memory with one image of " + text(kind.shape) + " (" + why +
        "): it is computed on the CPU");
}

void Shortage::lane_did_not_fit(const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(lane_did_not_fit_, true)) return;
  }
  warn_("out of GPU memory for a lane (" + why + "): its images are computed on the CPU meanwhile");
}

void Shortage::cut_in_halves() {
  const std::lock_guard lock(mutex_);
  ++counts_.oom_splits;
}

void Shortage::computed_on_cpu() {
  const std::lock_guard lock(mutex_);
  ++counts_.cpu_images;
}

BackendCounts Shortage::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

Shortage::Known& Shortage::known(const BatchKind& kind) {
  if (!kinds_.contains(kind)) make_room(kinds_);
  return kinds_[kind];
}

std::vector<std::string> Shortage::remarks() const {
  constexpr int kNamed = 3;  // shapes; a folder may have thousands
  const std::lock_guard lock(mutex_);
  std::string cuts;
  int cut = 0;
  for (const auto& [kind, known] : kinds_) {
    if (known.most_planes == 0 || ++cut > kNamed) continue;
    cuts += cuts.empty() ? "batches of " : ", of ";
    cuts += text(kind.shape) +
            (cuts.find(" cut ") == std::string::npos ? " were cut to " : " to ") +
            counted(known.most_planes, "plane");
  }
  if (cut > kNamed) cuts += ", of " + counted(cut - kNamed, "other shape") + " likewise";
  const std::int64_t images = counts_.cpu_images;
  const std::string on_cpu =
      images == 0
          ? ""
          : counted(images, "image") + (images == 1 ? " was" : " were") + " computed on the CPU";
  if (cuts.empty() && on_cpu.empty()) return {};
  return {"out of GPU memory: " + cuts + (cuts.empty() || on_cpu.empty() ? "" : "; ") + on_cpu};
}

}  // namespace eckart
