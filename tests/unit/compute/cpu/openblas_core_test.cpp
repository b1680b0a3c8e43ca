#include "compute/cpu/openblas_core.hpp"

#include <gtest/gtest.h>

namespace eckart::cpu {
namespace {

TEST(OpenblasCore, the_remark_names_the_remedy_for_this_cpu) {
  EXPECT_NE(remark_on_core("Prescott", {true, false}).find("OPENBLAS_CORETYPE=Haswell"),
            std::string::npos);
  EXPECT_NE(remark_on_core("Prescott", {true, true}).find("OPENBLAS_CORETYPE=SkylakeX"),
            std::string::npos);
}

TEST(OpenblasCore, nothing_is_said_where_all_is_well) {
  EXPECT_EQ(remark_on_core("Cooperlake", {true, true}), "");
  EXPECT_EQ(remark_on_core("Haswell", {true, true}), "");
  EXPECT_EQ(remark_on_core("Prescott", {false, false}), "") << "it is one";
}

}  // namespace
}  // namespace eckart::cpu
