#include "pipeline/in_flight_batches.hpp"

#include <spdlog/spdlog.h>

#include <exception>
#include <utility>

#include "pipeline/job_steps.hpp"
#include "text/printable.hpp"

namespace eckart::pipeline {
namespace {

bool is_suspect(const Batch& batch) { return batch.items.front()->is_suspect; }

}  // namespace

std::optional<InFlightBatches::Registration> InFlightBatches::try_begin(const Batch& batch) {
  const std::lock_guard lock(mutex_);
  if (is_device_lost_ || !may_begin(batch)) return std::nullopt;
  return register_batch(batch);
}

std::optional<InFlightBatches::Registration> InFlightBatches::begin(const Batch& batch) {
  std::unique_lock lock(mutex_);
  const bool suspect = is_suspect(batch);
  suspects_waiting_ += suspect;
  changed_.wait(lock, [&] { return is_device_lost_ || may_begin(batch); });
  suspects_waiting_ -= suspect;
  if (is_device_lost_) return std::nullopt;
  return register_batch(batch);
}

bool InFlightBatches::is_idle() const {
  const std::lock_guard lock(mutex_);
  return batches_.empty();
}

void InFlightBatches::report_device_lost() {
  Items items;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(is_device_lost_, true)) return;
    for (const Items& batch : batches_) items.insert(items.end(), batch.begin(), batch.end());
    is_reporting_ = true;
    changed_.notify_all();
  }
  record_lost(items);  // without the lock: it may wait for a disk
  const std::lock_guard lock(mutex_);
  is_reporting_ = false;
  changed_.notify_all();
}

void InFlightBatches::record_lost(const Items& items) try {
  steps_.on_device_lost(items);
} catch (const std::exception& error) {
  spdlog::error("cannot record the images that were being computed when the device was lost: {}",
                text::printable_message(error.what()));
}

bool InFlightBatches::may_begin(const Batch& batch) const {
  return is_suspect(batch) ? batches_.empty() : !suspect_in_flight_ && suspects_waiting_ == 0;
}

InFlightBatches::Registration InFlightBatches::register_batch(const Batch& batch) {
  Items items;
  for (const ItemPtr& item : batch.items) items.push_back(item.get());
  suspect_in_flight_ = is_suspect(batch);
  return {*this, batches_.insert(batches_.end(), std::move(items))};
}

void InFlightBatches::end(Batches::iterator position) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !is_reporting_; });
  batches_.erase(position);
  suspect_in_flight_ = false;  // a suspect is always alone
  changed_.notify_all();
}

}  // namespace eckart::pipeline
