#include "compute/cpu/openblas_overrides.hpp"

#include <cblas.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "core/error.hpp"

namespace eckart::compute::cpu {
namespace {

const int kThreadsAtStart = openblas_get_num_threads();

constexpr const char* kOtherThreads = "this build of OpenBLAS has no threads of its own";
/// Builds without threads, or with those of OpenMP, do not read OPENBLAS_NUM_THREADS.
bool has_own_threads() { return openblas_get_parallel() == OPENBLAS_THREAD; }

TEST(OpenblasThread, is_one_at_the_start) {
  if (!has_own_threads()) GTEST_SKIP() << kOtherThreads;
  EXPECT_EQ(kThreadsAtStart, 1);
}

TEST(OpenblasThread, is_added_when_asked_for) {
  if (!has_own_threads()) GTEST_SKIP() << kOtherThreads;
  openblas_set_num_threads(3);
  EXPECT_EQ(openblas_get_num_threads(), 3);
  openblas_set_num_threads(1);
}

TEST(OpenblasBuffer, needs_address_space) {
  EXPECT_NO_THROW(make_openblas_buffers(1, "128 MiB per lane"));
  try {
    make_openblas_buffers(2'000'000'000, "128 MiB per lane");
    ADD_FAILURE();
  } catch (const FatalError& error) {
    EXPECT_EQ(error.code(), ExitCode::temporary);
    EXPECT_STREQ(error.what(),
                 "not enough address space: OpenBLAS needs 256000000000 MiB, 128 MiB per lane");
  }
}

/// A product that needs a buffer.
void multiply() {
  constexpr int kN = 100;
  const std::vector<double> a(std::size_t(kN) * kN, 1.0);
  std::vector<double> b = a;
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, kN, kN, kN, 1, a.data(), kN, a.data(), kN,
              0, b.data(), kN);
  EXPECT_EQ(b.back(), kN);
}

TEST(OpenblasBuffer, is_kept_by_the_thread) {
  std::thread([] {
    EXPECT_EQ(kept_openblas_buffer(), nullptr);
    multiply();
    const void* const first = kept_openblas_buffer();
    EXPECT_NE(first, nullptr) << "OpenBLAS used its own functions";
    std::thread([&] {
      multiply();
      EXPECT_NE(kept_openblas_buffer(), first) << "another thread keeps it";
    }).join();
    multiply();
    EXPECT_EQ(kept_openblas_buffer(), first);
  }).join();
}

/// Otherwise OpenBLAS would soon have too many.
TEST(OpenblasBuffer, is_given_back_at_the_end_of_the_thread) {
  const void* first = nullptr;
  for (int i = 0; i < 1000; ++i) {
    std::thread([&] {
      multiply();
      if (!first) first = kept_openblas_buffer();
      EXPECT_EQ(kept_openblas_buffer(), first);
    }).join();
  }
}

}  // namespace
}  // namespace eckart::compute::cpu
