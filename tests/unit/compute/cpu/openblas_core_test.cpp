#include "compute/cpu/openblas_core.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace eckart::compute::cpu
