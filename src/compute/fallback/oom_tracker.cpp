#include "compute/fallback/oom_tracker.hpp"

#include <algorithm>

#include "compute/evict_if_full.hpp"
#include "text/format_count.hpp"

namespace eckart::compute {
namespace {

std::string format_shape(PaddedShape shape) {
  return std::to_string(shape.rows) + " x " + std::to_string(shape.cols);
}

std::string not_enough(const OutOfMemory& cause) {
  return std::string("not enough ") + to_text(cause.kind());
}

}  // namespace

int OomTracker::limit_planes(const BatchKey& key, int planes) const {
  const std::lock_guard lock(mutex_);
  const auto entry = limits_.find(key);
  const bool is_limited = entry != limits_.end() && entry->second.max_planes > 0;
  return is_limited ? std::min(planes, entry->second.max_planes) : planes;
}

void OomTracker::record_batch_oom(const BatchKey& key, int planes, const OutOfMemory& cause) {
  const int half = std::max(1, planes / 2);
  {
    const std::lock_guard lock(mutex_);
    exhausted_.insert(cause.kind());
    int& max_planes = find_or_add(key).max_planes;
    const bool is_first = max_planes == 0;
    max_planes = is_first ? half : std::min(max_planes, half);
    if (!is_first) return;
  }
  warn_(not_enough(cause) + " for a batch of " + text::format_count(planes, "plane") + " of " +
        format_shape(key.shape) + " (" + cause.what() +
        "); batches of this shape are split from now on");
}

void OomTracker::record_image_oom(const BatchKey& key, const OutOfMemory& cause) {
  {
    const std::lock_guard lock(mutex_);
    exhausted_.insert(cause.kind());
    if (std::exchange(find_or_add(key).is_cpu_fallback_reported, true)) return;
  }
  warn_(not_enough(cause) + " for a batch of one image of " + format_shape(key.shape) + " (" +
        cause.what() + "); it is computed on the CPU");
}

void OomTracker::record_lane_oom(const OutOfMemory& cause) {
  {
    const std::lock_guard lock(mutex_);
    exhausted_.insert(cause.kind());
    if (std::exchange(is_lane_oom_reported_, true)) return;
  }
  warn_(not_enough(cause) + " for a lane (" + cause.what() +
        "); its images are computed on the CPU until memory is free");
}

void OomTracker::record_gpu_images(std::size_t images) {
  const std::lock_guard lock(mutex_);
  counts_.gpu_images += std::int64_t(images);
}

void OomTracker::record_split() {
  const std::lock_guard lock(mutex_);
  ++counts_.oom_splits;
}

void OomTracker::record_cpu_fallback() {
  const std::lock_guard lock(mutex_);
  ++counts_.cpu_fallback_images;
}

FallbackCounts OomTracker::fallback_counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

OomTracker::BatchLimit& OomTracker::find_or_add(const BatchKey& key) {
  if (!limits_.contains(key)) evict_if_full(limits_);
  return limits_[key];
}

/// "GPU memory", or "GPU memory and pinned host memory". The mutex must be locked.
std::string OomTracker::describe_memory() const {
  std::string text;
  for (const MemoryKind kind : exhausted_) {
    if (!text.empty()) text += " and ";
    text += to_text(kind);
  }
  return text;
}

std::vector<std::string> OomTracker::warnings() const {
  constexpr int kMaxListed = 3;  // shapes; a folder may contain thousands
  const std::lock_guard lock(mutex_);
  std::string splits;
  int split_count = 0;
  for (const auto& [key, entry] : limits_) {
    if (entry.max_planes == 0 || ++split_count > kMaxListed) continue;
    splits += splits.empty() ? "batches of " : ", of ";
    splits += format_shape(key.shape) +
              (splits.find(" limited ") == std::string::npos ? " were limited to " : " to ") +
              text::format_count(entry.max_planes, "plane");
  }
  if (split_count > kMaxListed)
    splits +=
        ", of " + text::format_count(split_count - kMaxListed, "other shape") + " also limited";
  const std::int64_t images = counts_.cpu_fallback_images;
  const std::string on_cpu = images == 0
                                 ? ""
                                 : text::format_count(images, "image") +
                                       (images == 1 ? " was" : " were") + " computed on the CPU";
  if (splits.empty() && on_cpu.empty()) return {};
  return {"not enough " + describe_memory() + ": " + splits +
          (splits.empty() || on_cpu.empty() ? "" : "; ") + on_cpu};
}

}  // namespace eckart::compute
