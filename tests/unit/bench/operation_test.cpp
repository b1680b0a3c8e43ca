#include "bench/operation/operation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "bench/cpu/cpu_device.hpp"
#include "bench/operation/ceilings.hpp"
#include "bench/operation/device.hpp"
#include "synth/random.hpp"

namespace eckart::bench {
namespace {

Shape shape_of(Operation operation, int m, int n, int k) {
  return {.operation = operation, .m = m, .n = n, .k = k};
}

std::vector<float>& floats(Array& array) { return std::get<std::vector<float>>(array); }

/// The result on one core, by the variant with this index.
Array computed(const Shape& shape, const std::vector<Array>& operands, std::size_t variant = 0) {
  const auto device = make_cpu_device(1, PeakMeasurement::brief);
  return device->prepare(shape, operands)->result(variant).values;
}

TEST(Shape, counts_work) {
  const Shape product = shape_of(Operation::multiply, 2, 3, 4);
  EXPECT_EQ(product.flops(), 48);
  EXPECT_EQ(product.bytes(), 4 * (2 * 4 + 4 * 3 + 2 * 3));
  const Shape reconstruction = shape_of(Operation::reconstruct, 2, 3, 4);
  EXPECT_EQ(reconstruction.flops(), 48 + 12);
  EXPECT_EQ(reconstruction.operand_sizes(), (std::vector<std::size_t>{8, 4, 12}));
  EXPECT_EQ(shape_of(Operation::add, 1, 5, 1).bytes(), 60);
  EXPECT_EQ(shape_of(Operation::transpose, 2, 3, 1).flops(), 0);
  EXPECT_EQ(shape_of(Operation::multiply_vector, 2, 3, 1).result_size(), 2U);
}

TEST(Reference, is_small_for_a_right_result_and_large_for_a_single_wrong_element) {
  for (const Operation operation :
       {Operation::reconstruct, Operation::multiply, Operation::transpose, Operation::add,
        Operation::multiply_vector}) {
    const Shape shape = shape_of(operation, 40, 30, 20);
    const std::vector<Array> operands = random_operands(shape, 1);
    Array result = computed(shape, operands);
    EXPECT_LE(Reference(shape, operands).relative_error(result), max_relative_error(shape));
    floats(result).back() *= 1.01F;
    EXPECT_GT(Reference(shape, operands).relative_error(result), 2 * max_relative_error(shape));
  }
}

TEST(Reference, finds_a_wrong_element_in_each_part_of_a_large_result) {
  const Shape shape = shape_of(Operation::transpose, 2600, 2500, 1);  // several threads check it
  const std::vector<Array> operands = random_operands(shape, 1);
  const Reference reference(shape, operands);
  Array result = computed(shape, operands);
  EXPECT_LE(reference.relative_error(result), max_relative_error(shape));
  const std::size_t size = floats(result).size();
  for (const std::size_t at : {std::size_t(0), size / 2 - 1, size / 2, size - 1}) {
    floats(result)[at] += 1;
    EXPECT_GT(reference.relative_error(result), 2 * max_relative_error(shape)) << at;
    floats(result)[at] -= 1;
  }
}

TEST(Reference, is_the_error_in_the_frobenius_norm) {
  const Shape shape = shape_of(Operation::transpose, 60, 50, 1);
  const std::vector<Array> operands = random_operands(shape, 1);
  Array result = computed(shape, operands);
  synth::Random random(5);
  double error = 0, norm = 0;
  for (float& value : floats(result)) {
    const auto wrong = float(random.uniform(-1e-3, 1e-3));
    norm += double(value) * value;
    error += double(wrong) * wrong;
    value += wrong;
  }
  EXPECT_NEAR(Reference(shape, operands).relative_error(result) / std::sqrt(error / norm), 1, 0.1);
}

TEST(Reference, is_absolute_if_the_exact_result_is_zero) {
  const Shape shape = shape_of(Operation::transpose, 2, 3, 1);
  const Reference reference(shape, {Array(std::vector<float>(6, 0))});
  Array result(std::vector<float>(6, 0));
  EXPECT_EQ(reference.relative_error(result), 0);
  floats(result)[1] = 0.5F;
  EXPECT_GT(reference.relative_error(result), 0.1);
}

TEST(Reference, is_not_a_number_if_an_element_is_not) {
  const Shape shape = shape_of(Operation::add, 1, 10, 1);
  const std::vector<Array> operands = random_operands(shape, 1);
  Array result = computed(shape, operands);
  floats(result)[3] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(Reference(shape, operands).relative_error(result) <= max_relative_error(shape));
}

TEST(RandomOperand, is_the_same_for_the_same_seed_and_differs_from_another) {
  const Shape shape = shape_of(Operation::add, 1, 100, 1);
  EXPECT_EQ(random_operands(shape, 1), random_operands(shape, 1));
  EXPECT_NE(random_operands(shape, 1), random_operands(shape, 2));
  EXPECT_NE(random_operands(shape, 1)[0], random_operands(shape, 1)[1]);
}

TEST(ShortestTime, is_that_of_the_slower_of_memory_and_arithmetic) {
  const Shape shape = shape_of(Operation::multiply_vector, 100, 100, 1);  // 20,000 operations
  const Ceilings fast_memory{.bytes_per_s = 1e12, .float32_per_s = 1e6, .tensor_per_s = 1e7};
  EXPECT_DOUBLE_EQ(shortest_time(shape, fast_memory, false), 0.02);
  EXPECT_DOUBLE_EQ(shortest_time(shape, fast_memory, true), 0.002);
  const Ceilings slow_memory{.bytes_per_s = 1e3, .float32_per_s = 1e12};
  EXPECT_DOUBLE_EQ(shortest_time(shape, slow_memory, false), shape.bytes() / 1e3);
  EXPECT_EQ(shortest_time(shape, {}, false), 0);
}

TEST(CpuDevice, computes_all_operations_right_by_all_variants_in_both_precisions) {
  const auto device = make_cpu_device(2, PeakMeasurement::brief);
  for (const Operation operation :
       {Operation::reconstruct, Operation::multiply, Operation::transpose, Operation::add,
        Operation::multiply_vector}) {
    for (const Precision precision : {Precision::float32, Precision::float64}) {
      Shape shape = shape_of(operation, 130, 70, 33);
      shape.precision = precision;
      const std::vector<Array> operands = random_operands(shape, 1);
      const Reference reference(shape, operands);
      const auto prepared = device->prepare(shape, operands);
      for (std::size_t i = 0; i < prepared->variants().size(); ++i) {
        const Variant& variant = prepared->variants()[i];
        EXPECT_LE(reference.relative_error(prepared->result(i).values), max_relative_error(shape))
            << variant.name << ", " << variant.cores << " cores, " << to_string(precision);
        const CallTimes times = prepared->run(i);
        EXPECT_GT(times.compute_s, 0);
        EXPECT_EQ(times.total_s, times.compute_s);
      }
    }
  }
}

TEST(CpuDevice, has_no_loops_for_products_that_take_minutes) {
  const auto device = make_cpu_device(1, PeakMeasurement::brief);
  const auto names = [&](int side) {
    const Shape shape = shape_of(Operation::multiply, side, side, side);
    const auto prepared = device->prepare(shape, random_operands(shape, 1));
    std::vector<std::string> result;
    for (const Variant& variant : prepared->variants()) result.push_back(variant.name);
    return result;
  };
  EXPECT_EQ(names(64), (std::vector<std::string>{"loops", "OpenBLAS"}));
  EXPECT_EQ(names(1000), (std::vector<std::string>{"OpenBLAS"}));
}

TEST(CpuDevice, measures_its_ceilings_once_for_each_number_of_cores) {
  const auto device = make_cpu_device(2, PeakMeasurement::brief);
  const Ceilings one = device->ceilings({.name = "any", .cores = 1});
  EXPECT_GT(one.bytes_per_s, 1e8);
  EXPECT_GT(one.float32_per_s, 1e8);
  EXPECT_GT(one.float64_per_s, 1e8);
  const Ceilings& two = device->ceilings({.name = "any", .cores = 2});
  EXPECT_GE(two.bytes_per_s, one.bytes_per_s);
  EXPECT_GE(two.float32_per_s, one.float32_per_s);
  EXPECT_GE(two.float64_per_s, one.float64_per_s);
  EXPECT_EQ(&two, &device->ceilings({.name = "another", .cores = 2}));
}

}  // namespace
}  // namespace eckart::bench
