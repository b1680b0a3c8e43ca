#include "flow/budget.hpp"

namespace eckart::flow {

Budget::Reservation Budget::reserve(std::size_t bytes) {
  std::unique_lock lock(mutex_);
  const std::uint64_t ticket = next_ticket_++;
  changed_.wait(lock, [&] {
    const bool fits =
        used_bytes_ == 0 || (bytes <= total_bytes_ && used_bytes_ <= total_bytes_ - bytes);
    return closed_ || (ticket == serving_ && fits);
  });
  ++serving_;
  changed_.notify_all();
  if (closed_) return {};
  used_bytes_ += bytes;
  return {this, bytes};
}

void Budget::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

std::size_t Budget::used_bytes() const {
  const std::lock_guard lock(mutex_);
  return used_bytes_;
}

void Budget::release(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  used_bytes_ -= bytes;
  changed_.notify_all();
}

}  // namespace eckart::flow
