#include "pipeline/in_flight.hpp"

#include <utility>

namespace eckart {
namespace {

bool is_suspect(const Batch& batch) { return batch.items.front()->suspect; }

}  // namespace

std::optional<InFlight::Flight> InFlight::try_begin(const Batch& batch) {
  const std::lock_guard lock(mutex_);
  if (lost_ || !may_begin(batch)) return std::nullopt;
  return begun(batch);
}

std::optional<InFlight::Flight> InFlight::begin(const Batch& batch) {
  std::unique_lock lock(mutex_);
  const bool suspect = is_suspect(batch);
  suspects_waiting_ += suspect;
  changed_.wait(lock, [&] { return lost_ || may_begin(batch); });
  suspects_waiting_ -= suspect;
  if (lost_) return std::nullopt;
  return begun(batch);
}

bool InFlight::is_idle() const {
  const std::lock_guard lock(mutex_);
  return batches_.empty();
}

void InFlight::device_lost() {
  const std::lock_guard lock(mutex_);
  if (std::exchange(lost_, true)) return;
  Items items;
  for (const Items& batch : batches_) items.insert(items.end(), batch.begin(), batch.end());
  changed_.notify_all();
  on_lost_(items);
}

bool InFlight::may_begin(const Batch& batch) const {
  return is_suspect(batch) ? batches_.empty() : !suspect_in_flight_ && suspects_waiting_ == 0;
}

InFlight::Flight InFlight::begun(const Batch& batch) {
  Items items;
  for (const ItemPtr& item : batch.items) items.push_back(item.get());
  suspect_in_flight_ = is_suspect(batch);
  return {*this, batches_.insert(batches_.end(), std::move(items))};
}

void InFlight::end(Batches::iterator place) {
  const std::lock_guard lock(mutex_);
  batches_.erase(place);
  suspect_in_flight_ = false;  // it was alone
  changed_.notify_all();
}

}  // namespace eckart
