#include "compute/fallback/lazy_backend.hpp"

namespace eckart::compute {

void LazyBackend::compute(int index, const BatchKey& key, Task& task, const std::stop_token& stop) {
  Backend& backend = get_or_make();
  const int lane_index = index % backend.lanes();
  const std::lock_guard lock(lane_mutexes_[std::size_t(lane_index)]);
  const std::unique_ptr<Lane> lane = backend.make_lane(lane_index);
  lane->set_stop_token(stop);
  Task* const batch[] = {&task};
  lane->start(0, key, batch);
  lane->finish(0);
}

Backend& LazyBackend::get_or_make() {
  const std::lock_guard lock(make_mutex_);
  if (!backend_) {
    std::unique_ptr<Backend> backend = make_();
    lane_mutexes_ = std::make_unique<std::mutex[]>(std::size_t(backend->lanes()));
    backend_ = std::move(backend);
  }
  return *backend_;
}

}  // namespace eckart::compute
