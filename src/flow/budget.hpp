#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

namespace eckart::flow {

/// A budget of bytes, first come, first served. Waiting for it is the back-pressure of a pipeline:
/// new work waits until enough earlier work has finished.
class Budget {
 public:
  /// Bytes reserved from a budget; released when destroyed. Move-only. Must not outlive the budget.
  class Reservation {
   public:
    Reservation() = default;
    Reservation(Reservation&& other) noexcept
        : budget_(std::exchange(other.budget_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    Reservation& operator=(Reservation&& other) noexcept {
      std::swap(budget_, other.budget_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Reservation() {
      if (budget_) budget_->release(bytes_);
    }
    explicit operator bool() const { return budget_ != nullptr; }
    std::size_t bytes() const { return bytes_; }

    /// Releases all but `bytes`. Does nothing if no more than that is reserved.
    void shrink_to(std::size_t bytes) {
      if (budget_ == nullptr || bytes >= bytes_) return;
      budget_->release(bytes_ - bytes);
      bytes_ = bytes;
    }

   private:
    friend class Budget;
    Reservation(Budget* budget, std::size_t bytes) : budget_(budget), bytes_(bytes) {}
    Budget* budget_ = nullptr;
    std::size_t bytes_ = 0;
  };

  explicit Budget(std::size_t total_bytes) : total_bytes_(total_bytes) {}

  /// Waits, in the order of calls, until `bytes` are free. A request larger than the whole budget
  /// is granted once nothing else is reserved. Returns an empty reservation after close().
  Reservation reserve(std::size_t bytes);

  /// Ends all waits. Later calls of reserve() return empty reservations.
  void close();

  std::size_t used_bytes() const;

 private:
  void release(std::size_t bytes);

  const std::size_t total_bytes_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t used_bytes_ = 0;
  std::uint64_t next_ticket_ = 0;
  std::uint64_t serving_ticket_ = 0;
  bool is_closed_ = false;
};

}  // namespace eckart::flow
