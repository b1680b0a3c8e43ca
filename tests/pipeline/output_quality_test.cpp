// What is measured of an output.
#include "pipeline/output_quality.hpp"

#include <gtest/gtest.h>

#include "tests/pipeline/fakes.hpp"

namespace eckart::test {
namespace {

TEST(OutputMeasurement, weights_the_energy_of_planes_by_their_squared_norms) {
  const pipeline::ItemPtr item = make_item(0);
  item->outputs = {"out.png"};
  item->task.results[0] = {{.energy = 1, .squared_norm = 90}, {.energy = 0.5, .squared_norm = 10}};
  EXPECT_DOUBLE_EQ(pipeline::output_measurement(*item, 0).total_energy, 0.95);
  item->task.results[0] = {{.energy = 1, .squared_norm = 0}};
  EXPECT_EQ(pipeline::output_measurement(*item, 0).total_energy, 1) << "black";
}

TEST(OutputMeasurement, has_the_largest_loss_estimate_of_the_planes) {
  const pipeline::ItemPtr item = make_item(0);
  item->outputs = {"out.png"};
  item->task.results[0] = {
      {.loss_estimate_db = 0.001}, {.loss_estimate_db = 0.003}, {.loss_estimate_db = 0.002}};
  EXPECT_EQ(pipeline::output_measurement(*item, 0).loss_estimate_db, 0.003);
}

}  // namespace
}  // namespace eckart::test
