#include "app/gpu_health_probe.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "tests/unit/compute/fallback_fixture.hpp"

namespace eckart::app {
namespace {

TEST(GpuHealthProbe, detects_wrong_results) {
  BackendScript script;  // black, whatever it is given
  ScriptedBackend backend(script);
  EXPECT_THROW(GpuHealthProbe(backend).run(), DeviceLostError);
}

TEST(GpuHealthProbe, detects_a_reported_error) {
  BackendScript script;
  script.on_finish = [](Task& task) { task.error = "lost"; };
  ScriptedBackend backend(script);
  EXPECT_THROW(GpuHealthProbe(backend).run(), DeviceLostError);
}

}  // namespace
}  // namespace eckart::app
