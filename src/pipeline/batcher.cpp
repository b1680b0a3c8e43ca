#include "pipeline/batcher.hpp"

#include <algorithm>
#include <utility>

namespace eckart {

std::optional<Batch> Batcher::add(ItemPtr item, Time now) {
  const int channels = item->task.input.shape().channels;
  BatchKind kind = batch_kind(item->task, pad_);
  if (item->suspect) {
    Batch alone{.kind = std::move(kind), .planes = channels, .planes_if_full = channels};
    alone.items.push_back(std::move(item));
    return alone;
  }
  const int capacity = capacity_(kind);
  auto bin = bins_.find(kind);
  std::optional<Batch> full;
  if (bin != bins_.end() && bin->second.batch.planes + channels > capacity) full = take(bin);
  if (full || bin == bins_.end())
    bin = bins_.emplace(kind, Bin{{.kind = kind, .planes_if_full = capacity}, now}).first;
  Batch& batch = bin->second.batch;
  batch.planes += channels;
  batch.items.push_back(std::move(item));
  if (!full && batch.planes >= capacity) full = take(bin);
  return full;
}

std::optional<Batch> Batcher::due(Time now) {
  const auto oldest = std::min_element(
      bins_.begin(), bins_.end(),
      [](const auto& a, const auto& b) { return a.second.oldest < b.second.oldest; });
  if (oldest == bins_.end() || oldest->second.oldest + linger_ > now) return std::nullopt;
  return take(oldest);
}

std::optional<Batcher::Time> Batcher::next_due() const {
  std::optional<Time> soonest;
  for (const auto& [kind, bin] : bins_) {
    if (!soonest || bin.oldest + linger_ < *soonest) soonest = bin.oldest + linger_;
  }
  return soonest;
}

std::optional<Batch> Batcher::flush() {
  if (bins_.empty()) return std::nullopt;
  return take(bins_.begin());
}

std::optional<Batch> Batcher::take(std::map<BatchKind, Bin>::iterator bin) {
  Batch batch = std::move(bin->second.batch);
  bins_.erase(bin);
  return batch;
}

}  // namespace eckart
