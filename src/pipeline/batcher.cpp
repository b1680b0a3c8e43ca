#include "pipeline/batcher.hpp"

#include <algorithm>
#include <utility>

namespace eckart::pipeline {

std::optional<Batch> Batcher::add(ItemPtr item, Time now) {
  const int channels = item->task.input.shape().channels;
  compute::BatchKey key = compute::batch_key(item->task, pad_multiple_);
  if (item->is_suspect) {
    Batch alone{.key = std::move(key), .planes = channels, .plane_capacity = channels};
    alone.items.push_back(std::move(item));
    return alone;
  }
  auto bin = bins_.find(key);
  std::optional<Batch> full;
  if (bin != bins_.end() && bin->second.batch.planes + channels > bin->second.batch.plane_capacity)
    full = take(bin);
  if (full || bin == bins_.end()) {
    const int capacity = backend_.batch_planes(key);
    bin = bins_.emplace(key, Bin{{.key = key, .plane_capacity = capacity}, now}).first;
  }
  Batch& batch = bin->second.batch;
  batch.planes += channels;
  batch.items.push_back(std::move(item));
  if (!full && batch.planes >= batch.plane_capacity) full = take(bin);
  return full;
}

std::optional<Batch> Batcher::take_due(Time now) {
  const auto oldest = std::min_element(
      bins_.begin(), bins_.end(),
      [](const auto& a, const auto& b) { return a.second.oldest < b.second.oldest; });
  if (oldest == bins_.end() || oldest->second.oldest + linger_time_ > now) return std::nullopt;
  return take(oldest);
}

std::optional<Batcher::Time> Batcher::next_deadline() const {
  std::optional<Time> soonest;
  for (const auto& [key, bin] : bins_) {
    if (!soonest || bin.oldest + linger_time_ < *soonest) soonest = bin.oldest + linger_time_;
  }
  return soonest;
}

std::optional<Batch> Batcher::take_any() {
  if (bins_.empty()) return std::nullopt;
  return take(bins_.begin());
}

std::optional<Batch> Batcher::take(std::map<compute::BatchKey, Bin>::iterator bin) {
  Batch batch = std::move(bin->second.batch);
  bins_.erase(bin);
  return batch;
}

}  // namespace eckart::pipeline
