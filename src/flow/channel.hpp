#pragma once

#include <concurrentqueue/concurrentqueue.h>
#include <concurrentqueue/lightweightsemaphore.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <new>
#include <optional>
#include <span>
#include <thread>
#include <utility>

namespace eckart::flow {

/// A bounded, closable queue between threads, with any number of producers and consumers, over
/// ConcurrentQueue of moodycamel. Items of one producer keep their order; items of different
/// producers have no order.
///
/// A producer that waits for capacity is woken when an eighth of the capacity is free, and not for
/// each item: the two threads would otherwise switch at each item.
///
/// After close(), no item can be pushed, and the items inside can still be popped. cancel() also
/// discards those. Both wake all waiting threads, may be called from any thread, and any number of
/// times.
template <class T>
class Channel {
 public:
  explicit Channel(std::size_t capacity)
      : capacity_(capacity < 1 ? 1 : capacity),
        free_capacity_(std::ptrdiff_t(capacity_)),
        available_items_(0) {}
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// Waits for capacity. Returns false if the channel is closed. Throws std::bad_alloc if memory
  /// runs out. In both cases `item` is unchanged.
  bool push(T&& item) { return push(std::span<T>(&item, 1)); }

  /// Like push() for each of the items, in order, but consumers are woken for many items at once.
  /// Returns false if the channel was closed before all were pushed.
  bool push(std::span<T> items) {
    while (!items.empty()) {
      if (is_closed_) return false;
      const std::ptrdiff_t signed_count = free_capacity_.waitMany(std::ptrdiff_t(items.size()));
      const auto count = std::size_t(signed_count);
      const auto give_back = [&] {
        size_ -= count;
        free_capacity_.signal(signed_count);  // also wakes the next waiting producer
      };
      size_ += count;  // before is_closed_ is read; see is_finished()
      if (is_closed_) {
        give_back();
        return false;
      }
      if (!queue_.enqueue_bulk(std::make_move_iterator(items.begin()), count)) {
        give_back();  // out of memory: the items are unchanged
        throw std::bad_alloc();
      }
      available_items_.signal(signed_count);
      items = items.subspan(count);
    }
    return true;
  }

  /// Waits for an item. Returns nothing if the channel is canceled, closed and empty, or
  /// interrupted.
  std::optional<T> pop() {
    available_items_.wait();
    return dequeue();
  }

  /// Like pop(), but also returns nothing after `timeout`.
  template <class Rep, class Period>
  std::optional<T> pop_for(std::chrono::duration<Rep, Period> timeout) {
    const auto us = std::chrono::duration_cast<std::chrono::microseconds>(timeout).count();
    if (us <= 0) return try_pop();
    if (!available_items_.wait(std::int64_t(us))) return std::nullopt;
    return dequeue();
  }

  /// Returns an item if there is one; does not wait.
  std::optional<T> try_pop() {
    if (!available_items_.tryWait()) return std::nullopt;
    return dequeue();
  }

  /// Pops for one thread, up to 32 items of the same producer before those of another. So neighbors
  /// stay together. As soon as one consumer goes on to another producer, all do.
  class Consumer {
   public:
    /// `channel` must outlive this object.
    explicit Consumer(Channel& channel) : channel_(channel), token_(channel.queue_) {}
    std::optional<T> pop() {
      channel_.available_items_.wait();
      return channel_.dequeue(&token_);
    }
    std::optional<T> try_pop() {
      if (!channel_.available_items_.tryWait()) return std::nullopt;
      return channel_.dequeue(&token_);
    }

   private:
    Channel& channel_;
    moodycamel::ConsumerToken token_;
  };

  void close() {
    is_closed_ = true;
    free_capacity_.signal();
    available_items_.signal();
  }

  void cancel() {
    is_canceled_ = true;
    close();
  }

  /// Makes one pop return nothing: one that waits, or else the next. Several calls before that pop
  /// count as one. Does not wait. Of use if the only consumer also waits for something else.
  void interrupt() {
    if (!is_interrupted_.exchange(true)) available_items_.signal();
  }

  /// True if no item can be popped any more. A producer increments size_ before it reads
  /// is_closed_; this function reads is_closed_ before size_. So no item can be added after both
  /// are read.
  bool is_finished() const { return is_closed_ && (is_canceled_ || size_ == 0); }
  std::size_t capacity() const { return capacity_; }
  /// Number of items; exact only while no other thread pushes or pops.
  std::size_t size() const { return size_; }

 private:
  /// Called after one signal of available_items_ was consumed. The signal is for an item, an
  /// interrupt, or the closing of the channel. In the last case it is passed on to the next waiting
  /// consumer. A failed try_dequeue() does not show that the queue is empty while other threads
  /// dequeue, because the counter of moodycamel is optimistic; size_ does.
  std::optional<T> dequeue(moodycamel::ConsumerToken* consumer = nullptr) {
    T item;
    while (!is_finished()) {
      if (is_interrupted_ && is_interrupted_.exchange(false)) return std::nullopt;
      if (!is_canceled_ && try_dequeue(item, consumer)) {
        --size_;
        release_capacity();
        return item;
      }
      std::this_thread::yield();
    }
    available_items_.signal();
    return std::nullopt;
  }
  bool try_dequeue(T& item, moodycamel::ConsumerToken* consumer) {
    return consumer ? queue_.try_dequeue(*consumer, item) : queue_.try_dequeue(item);
  }

  /// What is not released is at most an eighth of the capacity. So a producer that waits has
  /// consumers with work, and one of them will release it.
  void release_capacity() {
    const std::ptrdiff_t min_released = std::ptrdiff_t(std::max<std::size_t>(1, capacity_ / 8));
    std::ptrdiff_t unreleased = ++unreleased_;
    while (unreleased >= min_released) {
      if (!unreleased_.compare_exchange_weak(unreleased, 0)) continue;
      return free_capacity_.signal(unreleased);
    }
  }

  struct Traits : moodycamel::ConcurrentQueueDefaultTraits {
    // NOLINTNEXTLINE(readability-identifier-naming): moodycamel's name
    static const std::uint32_t EXPLICIT_CONSUMER_CONSUMPTION_QUOTA_BEFORE_ROTATE = 32;
  };

  const std::size_t capacity_;
  moodycamel::ConcurrentQueue<T, Traits> queue_;
  moodycamel::LightweightSemaphore free_capacity_;
  moodycamel::LightweightSemaphore available_items_;
  std::atomic<std::size_t> size_{0};           // items inside and being added
  std::atomic<std::ptrdiff_t> unreleased_{0};  // free capacity that producers cannot use yet
  std::atomic<bool> is_interrupted_{false};
  std::atomic<bool> is_closed_{false};
  std::atomic<bool> is_canceled_{false};
};

}  // namespace eckart::flow
