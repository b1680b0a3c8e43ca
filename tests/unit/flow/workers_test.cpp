#include "flow/workers.hpp"

#include <gtest/gtest.h>
#include <pthread.h>

#include <barrier>
#include <latch>
#include <mutex>
#include <set>
#include <stdexcept>

namespace eckart::flow {
namespace {

void unexpected(std::exception_ptr) { ADD_FAILURE() << "no worker was to fail"; }

TEST(Workers, EachIndexRunsOnceAndAtTheSameTime) {
  std::barrier all_are_there(4);
  std::mutex mutex;
  std::multiset<int> indices;
  {
    Workers workers(
        "load", 4,
        [&](int index) {
          all_are_there.arrive_and_wait();
          const std::lock_guard lock(mutex);
          indices.insert(index);
        },
        unexpected);
  }
  EXPECT_EQ(indices, (std::multiset<int>{0, 1, 2, 3}));
}

TEST(Workers, AnExceptionReachesOnFailureAndEndsOnlyItsWorker) {
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

TEST(Workers, WhatIsNoStdExceptionReachesOnFailureToo) {
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

TEST(Workers, TheDestructorWaitsForEveryWorker) {
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
        unexpected);
    opener = std::thread([&] { go.count_down(); });
  }
  EXPECT_EQ(ended, 3);
  opener.join();
}

TEST(Workers, JoinMayBeCalledTwice) {
  Workers workers(
      "load", 2, [](int) {}, unexpected);
  workers.join();
  workers.join();
}

TEST(Workers, ThreadsBearTheNameOfTheirGroupAndTheirIndex) {
  std::latch named(1);
  std::string name(16, '\0');
  {
    Workers workers(
        "a_name_of_many_bytes", 1,
        [&](int) {
          named.wait();
          pthread_getname_np(pthread_self(), name.data(), name.size());
        },
        unexpected);
    named.count_down();
  }
  EXPECT_STREQ(name.c_str(), "a_name_of_ma:0");
}

}  // namespace
}  // namespace eckart::flow
