#include "flow/workers.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>

#include <array>
#include <atomic>
#include <barrier>
#include <fstream>
#include <latch>
#include <mutex>
#include <new>
#include <set>
#include <stdexcept>
#include <thread>

#include "tests/support/sanitized.hpp"

namespace eckart::flow {
namespace {

void fail_unexpectedly(std::exception_ptr) { ADD_FAILURE() << "no worker was to fail"; }

TEST(Workers, runs_each_index_once_and_concurrently) {
  std::barrier start(4);
  std::mutex mutex;
  std::multiset<int> indices;
  {
    Workers workers(
        "load", 4,
        [&](int index) {
          start.arrive_and_wait();
          const std::lock_guard lock(mutex);
          indices.insert(index);
        },
        fail_unexpectedly);
  }
  EXPECT_EQ(indices, (std::multiset<int>{0, 1, 2, 3}));
}

TEST(Workers, passes_an_exception_to_on_failure_and_ends_only_its_worker) {
  std::atomic<int> finished = 0;
  std::mutex mutex;
  std::multiset<std::string> messages;
  {
    Workers workers(
        "load", 4,
        [&](int index) {
          if (index % 2 == 1) throw std::runtime_error("worker " + std::to_string(index));
          ++finished;
        },
        [&](std::exception_ptr failure) {
          const std::lock_guard lock(mutex);
          try {
            std::rethrow_exception(failure);
          } catch (const std::runtime_error& error) {
            messages.insert(error.what());
          }
        });
  }
  EXPECT_EQ(messages, (std::multiset<std::string>{"worker 1", "worker 3"}));
  EXPECT_EQ(finished, 2);
}

TEST(Workers, passes_a_non_std_exception_to_on_failure) {
  int caught = 0;
  {
    Workers workers(
        "load", 1, [](int) { throw 42; },
        [&](std::exception_ptr failure) {
          try {
            std::rethrow_exception(failure);
          } catch (int value) {
            caught = value;
          }
        });
  }
  EXPECT_EQ(caught, 42);
}

TEST(Workers, waits_for_every_worker_in_the_destructor) {
  std::latch go(1);
  std::atomic<int> ended = 0;
  std::thread opener;
  {
    Workers workers(
        "load", 3,
        [&](int) {
          go.wait();
          ++ended;
        },
        fail_unexpectedly);
    opener = std::thread([&] { go.count_down(); });
  }
  EXPECT_EQ(ended, 3);
  opener.join();
}

TEST(Workers, can_be_joined_twice) {
  Workers workers(
      "load", 2, [](int) {}, fail_unexpectedly);
  workers.join();
  workers.join();
}

/// Runs until stopped, or until its workers have too many threads.
class AdjustableTest : public testing::Test {
 protected:
  void work(int index, Workers& workers) {
    ++running_;
    running_.notify_all();
    while (!is_stopped_ && !workers.leaves(index)) std::this_thread::yield();
    --running_;
    running_.notify_all();
  }
  void wait_for(int threads) {
    for (int running = running_; running != threads; running = running_) running_.wait(running);
  }
  void stop() { is_stopped_ = true; }

  std::atomic<int> running_ = 0;
  std::atomic<bool> is_stopped_ = false;
  Workers workers_{"load", 2, [this](int index, Workers& workers) { work(index, workers); },
                   fail_unexpectedly};
};

TEST_F(AdjustableTest, starts_and_ends_threads_while_others_run) {
  wait_for(2);
  workers_.set_count(5);
  wait_for(5);
  workers_.set_count(1);
  wait_for(1);
  workers_.set_count(3);
  wait_for(3);
  stop();
  workers_.join();
  EXPECT_EQ(running_, 0);
}

TEST_F(AdjustableTest, starts_no_threads_after_join) {
  stop();
  workers_.join();
  is_stopped_ = false;
  workers_.set_count(4);
  EXPECT_EQ(running_, 0);
}

TEST(Workers, joins_threads_that_are_added_while_it_joins) {
  std::atomic<int> ended = 0;
  std::latch added(3);
  Workers workers(
      "load", 1,
      [&](int, Workers& self) {
        self.set_count(3);
        added.arrive_and_wait();
        ++ended;
      },
      fail_unexpectedly);
  workers.join();
  EXPECT_EQ(ended, 3);
}

TEST(Workers, runs_one_thread_for_an_index_at_a_time) {
  constexpr int kRounds = 20, kMax = 3;
  const auto yield = [] {
    for (int i = 0; i < 5; ++i) std::this_thread::yield();
  };
  for (int round = 0; round < kRounds; ++round) {
    std::array<std::atomic<int>, kMax> running{};
    std::atomic<bool> is_closed = false;
    Workers workers(
        "load", kMax,
        [&](int index, Workers& self) {
          EXPECT_EQ(++running[std::size_t(index)], 1);
          // The first has no work any more, so that join() waits for the others.
          while (index > 0 && !is_closed && !self.leaves(index)) std::this_thread::yield();
          yield();  // as if it ended slowly
          --running[std::size_t(index)];
        },
        fail_unexpectedly);
    std::thread adaptation([&] {
      for (int i = 0; i < 10; ++i) {
        workers.set_count(i % 2 == 0 ? 1 : kMax);
        yield();
      }
      is_closed = true;
    });
    workers.join();
    adaptation.join();
  }
}

TEST(Workers, names_threads_by_group_and_index) {
  std::latch named(1);
  std::string name(16, '\0');
  {
    Workers workers(
        "a_name_of_many_bytes", 1,
        [&](int) {
          named.wait();
          pthread_getname_np(pthread_self(), name.data(), name.size());
        },
        fail_unexpectedly);
    named.count_down();
  }
  EXPECT_STREQ(name.c_str(), "a_name_of_ma:0");
}

/// pthread_create() reports the same error as for too many threads.
TEST(Workers, reports_out_of_memory_for_a_thread_without_stack) {
  if (test::kIsSanitized) GTEST_SKIP() << "no limit leaves the address space that sanitizers take";
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  constexpr rlim_t kStack = 8 << 20;
  std::latch started(1);
  std::exception_ptr failure;
  {
    const rlimit few{pages * 4096 + 4 * kStack, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_AS, &few), 0);
    const Workers workers(
        "load", 100, [&](int) { started.wait(); }, [&](std::exception_ptr why) { failure = why; });
    ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
    started.count_down();
  }
  ASSERT_TRUE(failure);
  EXPECT_THROW(std::rethrow_exception(failure), std::bad_alloc);
}

}  // namespace
}  // namespace eckart::flow
