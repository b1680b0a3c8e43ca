#include "core/usable_cores.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

namespace eckart {
namespace {

TEST(UsableCores, AreThoseThatTheProcessIsAllowed) {
  EXPECT_GE(usable_cores(), 1);
  std::thread([] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(usable_cores(), 1);
  }).join();
}

}  // namespace
}  // namespace eckart
