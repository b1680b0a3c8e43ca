#include "flow/budget.hpp"

namespace eckart::flow {

Budget::Reservation Budget::reserve(std::size_t bytes) {
  std::unique_lock lock(mutex_);
  const std::uint64_t ticket = next_ticket_++;
  changed_.wait(lock, [&] {
    const bool fits = used_ == 0 || (bytes <= total_ && used_ <= total_ - bytes);
    return closed_ || (ticket == serving_ && fits);
  });
  ++serving_;
  changed_.notify_all();
  if (closed_) return {};
  used_ += bytes;
  return {this, bytes};
}

void Budget::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

std::size_t Budget::in_use() const {
  const std::lock_guard lock(mutex_);
  return used_;
}

void Budget::give_back(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  used_ -= bytes;
  changed_.notify_all();
}

}  // namespace eckart::flow
