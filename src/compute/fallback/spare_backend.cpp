#include "compute/fallback/spare_backend.hpp"

namespace eckart {

void SpareBackend::compute(int index, const BatchKind& kind, Task& task) {
  Backend& backend = made();
  const int own = index % backend.lanes();
  const std::lock_guard lock(lanes_[std::size_t(own)]);
  const std::unique_ptr<Lane> lane = backend.make_lane(own);
  Task* const batch[] = {&task};
  lane->start(0, kind, batch);
  lane->finish(0);
}

Backend& SpareBackend::made() {
  const std::lock_guard lock(making_);
  if (!backend_) {
    std::unique_ptr<Backend> backend = make_();
    lanes_ = std::make_unique<std::mutex[]>(std::size_t(backend->lanes()));
    backend_ = std::move(backend);
  }
  return *backend_;
}

}  // namespace eckart
