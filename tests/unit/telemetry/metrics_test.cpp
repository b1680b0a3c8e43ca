#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "telemetry/status.hpp"

namespace eckart::telemetry {
namespace {

using testing::HasSubstr;

/// Prometheus takes a counter that goes back for one of a new process.
TEST(Metrics, of_inputs_found_do_not_go_back_when_one_is_given_back) {
  Status status;
  status.identity.command = "watch";
  status.all.found = 2;
  EXPECT_THAT(metrics_text(status),
              HasSubstr("eckart_images_discovered_total{source=\"watch\"} 2\n"));
  status.all.found = 1;
  status.all.counts.retries_in[std::size_t(Stage::load)] = 1;
  EXPECT_THAT(metrics_text(status),
              HasSubstr("eckart_images_discovered_total{source=\"watch\"} 2\n"));
}

}  // namespace
}  // namespace eckart::telemetry
