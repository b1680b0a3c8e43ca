#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "status_server/run_status.hpp"
#include "text/json.hpp"

namespace eckart::status_server {
namespace {

using testing::ElementsAre;

TEST(StatusJson, has_no_value_for_times_before_a_gpu_was_found) {
  telemetry::Snapshot difference;
  difference.seconds = 1;
  History history;
  history.add(1, difference);
  history.add(2, difference);
  difference.machine.gpus = {{.uuid = "GPU-1", .seconds = 1, .busy_s = 0.5, .energy_j = 200}};
  history.add(3, difference);
  const auto json = text::Json::parse(status_json({}, history, 0)).at("history");
  EXPECT_THAT(json.at("time_s"), ElementsAre(1, 2, 3));
  const text::Json none;
  EXPECT_THAT(json.at("gpus").at(0).at("busy"), ElementsAre(none, none, 0.5));
  EXPECT_THAT(json.at("gpus").at(0).at("power_w"), ElementsAre(none, none, 200));
}

}  // namespace
}  // namespace eckart::status_server
