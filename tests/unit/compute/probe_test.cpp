#include "compute/probe.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "tests/unit/compute/fallback_fixture.hpp"

namespace eckart {
namespace {

TEST(Probe, finds_a_device_whose_results_are_wrong) {
  Fake fake;  // black, whatever it is given
  FakeBackend backend(fake);
  EXPECT_THROW(Probe(backend).run(), DeviceLost);
}

TEST(Probe, finds_a_device_that_says_so) {
  Fake fake;
  fake.on_finish = [](Task& task) { task.error = "lost"; };
  FakeBackend backend(fake);
  EXPECT_THROW(Probe(backend).run(), DeviceLost);
}

}  // namespace
}  // namespace eckart
