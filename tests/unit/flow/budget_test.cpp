#include "flow/budget.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

#include "tests/support/waiting_thread.hpp"

namespace eckart::flow {
namespace {

using test::WaitingThread;

TEST(Budget, counts_reserved_bytes_until_release) {
  Budget budget(100);
  {
    const auto a = budget.reserve(60);
    const auto b = budget.reserve(40);
    EXPECT_TRUE(a && b);
    EXPECT_EQ(a.bytes(), 60u);
    EXPECT_EQ(budget.used_bytes(), 100u);
  }
  EXPECT_EQ(budget.used_bytes(), 0u);
}

TEST(Budget, delays_a_request_that_does_not_fit_until_it_does) {
  Budget budget(100);
  auto held = budget.reserve(60);
  WaitingThread waiter([&] {
    const auto reservation = budget.reserve(50);
    EXPECT_TRUE(reservation);
    EXPECT_LE(budget.used_bytes(), 100u);
  });
  ASSERT_TRUE(waiter.wait_until_asleep());
  EXPECT_EQ(budget.used_bytes(), 60u);
  held = {};
  waiter.join();
  EXPECT_EQ(budget.used_bytes(), 0u);
}

TEST(Budget, serves_requests_in_call_order) {
  Budget budget(100);
  auto held = budget.reserve(90);
  std::vector<int> order;  // written under the reservation of the whole budget, or before it
  std::atomic<bool> small_served = false;
  WaitingThread large([&] {
    const auto reservation = budget.reserve(100);
    EXPECT_FALSE(small_served);
    order.push_back(1);
  });
  ASSERT_TRUE(large.wait_until_asleep());
  WaitingThread small([&] {
    const auto reservation = budget.reserve(1);
    small_served = true;
    order.push_back(2);
  });
  ASSERT_TRUE(small.wait_until_asleep());
  EXPECT_FALSE(small_served);
  held = {};
  large.join();
  small.join();
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST(Budget, grants_an_oversize_request_alone) {
  Budget budget(100);
  auto held = budget.reserve(1);
  WaitingThread oversize([&] {
    const auto reservation = budget.reserve(1000);
    EXPECT_TRUE(reservation);
    EXPECT_EQ(budget.used_bytes(), 1000u);
  });
  ASSERT_TRUE(oversize.wait_until_asleep());
  held = {};
  oversize.join();
  EXPECT_EQ(budget.used_bytes(), 0u);
}

TEST(Budget, grants_nothing_beside_an_oversize_request) {
  Budget budget(100);
  auto oversize = budget.reserve(1000);
  WaitingThread small([&] {
    const auto reservation = budget.reserve(1);
    EXPECT_EQ(budget.used_bytes(), 1u);
  });
  ASSERT_TRUE(small.wait_until_asleep());
  oversize = {};
}

TEST(Budget, ends_every_wait_on_close_and_grants_nothing_later) {
  Budget budget(100);
  const auto held = budget.reserve(100);
  const auto body = [&] { EXPECT_FALSE(budget.reserve(1)); };
  WaitingThread first(body), second(body);
  ASSERT_TRUE(first.wait_until_asleep());
  ASSERT_TRUE(second.wait_until_asleep());
  budget.close();
  first.join();
  second.join();
  EXPECT_FALSE(budget.reserve(0));
  EXPECT_EQ(budget.used_bytes(), 100u);
}

TEST(Budget, accepts_releases_after_close) {
  Budget budget(100);
  auto held = budget.reserve(100);
  budget.close();
  held = {};
  EXPECT_EQ(budget.used_bytes(), 0u);
}

TEST(BudgetReservation, is_movable_and_released_once) {
  static_assert(!std::is_copy_constructible_v<Budget::Reservation>);
  Budget budget(100);
  auto a = budget.reserve(30);
  auto b = std::move(a);
  EXPECT_FALSE(a);
  EXPECT_EQ(a.bytes(), 0u);
  EXPECT_EQ(b.bytes(), 30u);
  EXPECT_EQ(budget.used_bytes(), 30u);
  b = {};
  EXPECT_FALSE(b);
  EXPECT_EQ(budget.used_bytes(), 0u);
}

TEST(BudgetReservation, releases_the_old_bytes_on_assignment) {
  Budget budget(100);
  auto a = budget.reserve(30);
  a = budget.reserve(20);
  EXPECT_EQ(a.bytes(), 20u);
  EXPECT_EQ(budget.used_bytes(), 20u);
}

TEST(BudgetReservation, wakes_a_waiter_when_shrunk) {
  Budget budget(100);
  auto held = budget.reserve(90);
  WaitingThread waiter([&] { EXPECT_TRUE(budget.reserve(60)); });
  ASSERT_TRUE(waiter.wait_until_asleep());
  held.shrink_to(40);
  waiter.join();
  EXPECT_EQ(held.bytes(), 40u);
  held.shrink_to(50);
  EXPECT_EQ(held.bytes(), 40u) << "it never grows";
  EXPECT_EQ(budget.used_bytes(), 40u);
  held = {};
  EXPECT_EQ(budget.used_bytes(), 0u);
  Budget::Reservation none;
  none.shrink_to(0);
  EXPECT_FALSE(none);
}

/// One release frees enough bytes for all waiters. Each waiter that is served must wake the next,
/// whichever the system wakes first.
TEST(Budget, wakes_the_next_waiter_after_each) {
  constexpr int kWaiters = 16;
  for (int round = 0; round < 20; ++round) {
    Budget budget(kWaiters);
    auto held = budget.reserve(kWaiters);
    std::atomic<int> served = 0;
    std::vector<std::unique_ptr<WaitingThread>> waiters;
    for (int i = 0; i < kWaiters; ++i) {
      waiters.push_back(std::make_unique<WaitingThread>([&] {
        const auto reservation = budget.reserve(1);
        if (!reservation) return;
        ++served;
        while (served < kWaiters) std::this_thread::yield();  // no bytes are released meanwhile
      }));
      ASSERT_TRUE(waiters.back()->wait_until_asleep());
    }
    held = {};
    waiters.clear();
    EXPECT_EQ(served, kWaiters);
  }
}

TEST(Budget, is_never_exceeded_by_many_threads) {
  Budget budget(100);
  const auto body = [&] {
    for (std::size_t i = 0; i < 2000; ++i) {
      const auto reservation = budget.reserve(1 + i * 7 % 100);
      ASSERT_LE(budget.used_bytes(), 100u);
    }
  };
  { WaitingThread a(body), b(body), c(body), d(body); }
  EXPECT_EQ(budget.used_bytes(), 0u);
}

}  // namespace
}  // namespace eckart::flow
