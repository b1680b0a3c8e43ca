#pragma once

#include <concurrentqueue/concurrentqueue.h>
#include <concurrentqueue/lightweightsemaphore.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <thread>
#include <utility>

namespace eckart::flow {

/// A bounded, closable queue between threads, any number of producers and consumers, over
/// moodycamel's ConcurrentQueue. Items of one producer come out in its order; no order holds
/// between producers.
///
/// close() lets nothing more in, and what is inside out; cancel() discards that as well. Both wake
/// every thread that waits, may be called from any thread, and any number of times.
template <class T>
class Channel {
 public:
  explicit Channel(std::size_t capacity)
      : capacity_(capacity < 1 ? 1 : capacity),
        free_capacity_(std::ptrdiff_t(capacity_)),
        available_items_(0) {}
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// Waits for room. False when the channel is closed: the item stays with the caller, as it does
  /// when memory for it runs out and std::bad_alloc is thrown.
  bool push(T&& item) {
    if (closed_) return false;
    free_capacity_.wait();
    ++size_;  // before the look at closed_; finished() says why
    if (closed_) {
      --size_;
      free_capacity_.signal();  // wakes the next producer that waits
      return false;
    }
    if (!queue_.enqueue(std::move(item))) {  // out of memory: the item is untouched
      --size_;
      free_capacity_.signal();
      throw std::bad_alloc();
    }
    available_items_.signal();
    return true;
  }

  /// Waits for an item; nothing when the channel is closed and empty, or canceled.
  std::optional<T> pop() {
    available_items_.wait();
    return dequeue();
  }

  /// As pop(), and nothing as well when no item came in time.
  template <class Rep, class Period>
  std::optional<T> pop_for(std::chrono::duration<Rep, Period> timeout) {
    const auto us = std::chrono::duration_cast<std::chrono::microseconds>(timeout).count();
    if (us <= 0) return try_pop();
    if (!available_items_.wait(std::int64_t(us))) return std::nullopt;
    return dequeue();
  }

  /// An item if there is one now.
  std::optional<T> try_pop() {
    if (!available_items_.tryWait()) return std::nullopt;
    return dequeue();
  }

  void close() {
    closed_ = true;
    free_capacity_.signal();
    available_items_.signal();
  }

  void cancel() {
    canceled_ = true;
    close();
  }

  bool closed() const { return closed_; }
  /// True when nothing will ever come out again. A producer counts its item first, and then looks
  /// at closed_; here closed_ comes first. So no item can come in after both were seen.
  bool finished() const { return closed_ && (canceled_ || size_ == 0); }
  std::size_t capacity() const { return capacity_; }
  /// Items inside; exact only while no other thread pushes or pops.
  std::size_t size() const { return size_; }

 private:
  /// Called with one signal of available_items_ in hand. That signal stands for an item, or for the
  /// closing, and in that case it is handed on to the next consumer that waits. A dequeue that
  /// fails proves nothing while others dequeue as well (moodycamel's count of them is optimistic);
  /// size_ does.
  std::optional<T> dequeue() {
    T item;
    while (!finished()) {
      if (!canceled_ && queue_.try_dequeue(item)) {
        --size_;
        free_capacity_.signal();
        return item;
      }
      std::this_thread::yield();
    }
    available_items_.signal();
    return std::nullopt;
  }

  const std::size_t capacity_;
  moodycamel::ConcurrentQueue<T> queue_;
  moodycamel::LightweightSemaphore free_capacity_;
  moodycamel::LightweightSemaphore available_items_;
  std::atomic<std::size_t> size_{0};  // items inside, and on their way in
  std::atomic<bool> closed_{false};
  std::atomic<bool> canceled_{false};
};

}  // namespace eckart::flow
