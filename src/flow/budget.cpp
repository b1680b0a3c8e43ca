#include "flow/budget.hpp"

namespace eckart::flow {

Budget::Reservation Budget::reserve(std::size_t bytes) {
  std::unique_lock lock(mutex_);
  const std::uint64_t ticket = next_ticket_++;
  changed_.wait(lock, [&] {
    const bool fits =
        used_bytes_ == 0 || (bytes <= total_bytes_ && used_bytes_ <= total_bytes_ - bytes);
    return is_closed_ || (ticket == serving_ticket_ && fits);
  });
  ++serving_ticket_;
  changed_.notify_all();
  if (is_closed_) return {};
  used_bytes_ += bytes;
  return {this, bytes};
}

void Budget::close() {
  const std::lock_guard lock(mutex_);
  is_closed_ = true;
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
