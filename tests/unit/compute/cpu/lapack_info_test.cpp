// The handling of LAPACKE's return codes.
#include "compute/cpu/lapack_info.hpp"

#include <gtest/gtest.h>

#include <new>
#include <string>

#include "core/error.hpp"

namespace eckart::compute::cpu {
namespace {

FailureReason reason_of(lapack_int info) {
  try {
    check_lapack(info, "dsyevd");
  } catch (const ItemError& error) {
    return error.reason();
  }
  return FailureReason::none;
}

TEST(LapackInfo, is_success_if_zero) { EXPECT_NO_THROW(check_lapack(0, "dsyevd")); }

TEST(LapackInfo, is_out_of_memory_without_a_workspace) {
  EXPECT_THROW(check_lapack(-1010, "dsyevd"), std::bad_alloc);
  EXPECT_THROW(check_lapack(-1011, "dgesdd"), std::bad_alloc);
}

TEST(LapackInfo, is_a_failure_to_converge_if_positive) {
  EXPECT_EQ(reason_of(3), FailureReason::not_converged);
}

TEST(LapackInfo, is_no_failure_to_converge_for_a_rejected_argument) {
  EXPECT_EQ(reason_of(-5), FailureReason::compute_failed);
}

TEST(LapackInfo, names_the_routine_and_the_number) {
  const auto text_of = [](lapack_int info) {
    try {
      check_lapack(info, "dgesdd");
    } catch (const ItemError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(text_of(3), "dgesdd did not converge (info 3)");
  EXPECT_EQ(text_of(-5), "dgesdd refused its argument 5");
}

}  // namespace
}  // namespace eckart::compute::cpu
