#include "compute/cpu/openblas_core.hpp"

#include <gtest/gtest.h>

#include <string>

namespace eckart::compute::cpu {
namespace {

TEST(OpenblasCore, warns_with_the_core_type_to_set) {
  EXPECT_NE(openblas_core_warning("Prescott", {true, false}).find("OPENBLAS_CORETYPE=Haswell"),
            std::string::npos);
  EXPECT_NE(openblas_core_warning("Prescott", {true, true}).find("OPENBLAS_CORETYPE=SkylakeX"),
            std::string::npos);
}

TEST(OpenblasCore, does_not_warn_about_a_suitable_core) {
  EXPECT_EQ(openblas_core_warning("Cooperlake", {true, true}), "");
  EXPECT_EQ(openblas_core_warning("Haswell", {true, true}), "");
  EXPECT_EQ(openblas_core_warning("Prescott", {false, false}), "") << "the CPU is that old";
}

TEST(OpenblasCore, says_what_to_set_and_why) {
  const std::string begin =
      "OpenBLAS does not recognize this CPU and uses only SSE3; set OPENBLAS_CORETYPE=";
  EXPECT_EQ(openblas_core_warning("Prescott", {true, false}),
            begin + "Haswell in the environment, so that it uses AVX2");
  EXPECT_EQ(openblas_core_warning("Prescott", {true, true}),
            begin + "SkylakeX in the environment, so that it uses AVX-512");
}

}  // namespace
}  // namespace eckart::compute::cpu
