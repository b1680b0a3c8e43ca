#include "app/gpu_health_probe.hpp"

#include <gtest/gtest.h>

#include <string>

#include "compute/checked/checked_backend.hpp"
#include "core/error.hpp"
#include "tests/unit/compute/fallback_fixture.hpp"

namespace eckart::app {
namespace {

using compute::FallbackTest;

TEST(GpuHealthProbe, detects_wrong_results) {
  compute::BackendScript script;  // computes black images from any input
  compute::ScriptedBackend backend(script);
  EXPECT_THROW(GpuHealthProbe(backend).run(), DeviceLostError);
}

TEST(GpuHealthProbe, detects_a_reported_error) {
  compute::BackendScript script;
  script.on_finish = [](compute::Task& task) { task.error = "lost"; };
  compute::ScriptedBackend backend(script);
  EXPECT_THROW(GpuHealthProbe(backend).run(), DeviceLostError);
}

TEST(GpuHealthProbe, says_what_is_wrong) {
  compute::BackendScript script;
  const auto message = [&] {
    compute::ScriptedBackend backend(script);
    try {
      GpuHealthProbe(backend).run();
    } catch (const DeviceLostError& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  EXPECT_EQ(message(), "GPU 0 failed the health probe: wrong result for a rank-1 matrix");
  script.on_finish = [](compute::Task& task) { task.error = "lost"; };
  EXPECT_EQ(message(), "GPU 0 failed the health probe: lost");
}

/// A fallback to the CPU would not test the GPU. The probe must not count as a computed image.
TEST_F(FallbackTest, is_not_used_by_a_health_probe_without_memory) {
  gpu_.has_lane_memory = false;
  EXPECT_THROW(GpuHealthProbe(*backend_).run(), compute::OutOfMemory);
  gpu_.has_lane_memory = true;
  gpu_.start_capacity = 0;
  EXPECT_THROW(GpuHealthProbe(*backend_).run(), compute::OutOfMemory);
  EXPECT_EQ(cpu_backends_made_, 0);
  EXPECT_EQ(backend_->fallback_counts().cpu_fallback_images, 0);
  EXPECT_EQ(backend_->fallback_counts().gpu_images, 0);
}

TEST_F(FallbackTest, is_not_used_by_a_health_probe_of_a_checked_backend) {
  gpu_.start_capacity = 0;
  const auto checked = compute::make_checked_backend(
      compute::make_fallback_backend(std::make_unique<compute::ScriptedBackend>(gpu_), make_cpu_,
                                     [](const std::string&) {}),
      std::make_unique<compute::ScriptedBackend>(cpu_));
  EXPECT_THROW(GpuHealthProbe(*checked).run(), compute::OutOfMemory);
  EXPECT_TRUE(cpu_.started.empty());
}

}  // namespace
}  // namespace eckart::app
