// Libraries of Python in a process of its own.
#include "bench/peers/peers.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "bench/cpu/cpu_device.hpp"
#include "bench/experiments/backend_batch.hpp"
#include "bench/peers/peer_process.hpp"
#include "bench/peers/peer_script.hpp"
#include "core/quality.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/bench/fake_backend.hpp"

namespace eckart::bench {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Key;

constexpr const char* kPython = "/usr/bin/python3";  // that of Debian may have NumPy

/// Why starting this program and asking it fails; empty: it does not.
std::string failure_of(const std::string& python) {
  try {
    PeerProcess process(python, {});
    process.ask({{"request", "libraries"}});
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return {};
}

TEST(PeerProcess, says_why_python_does_not_run) {
  EXPECT_EQ(failure_of("no-such-python"),
            "no-such-python does not start: No such file or directory");
  EXPECT_THAT(failure_of("false"), HasSubstr("python3 ended"));
  // The shell reads the script of Python.
  EXPECT_THAT(failure_of("sh"), HasSubstr("/proc/self/fd/4"));
}

TEST(PeerProcess, ends_after_a_stop_request) {
  const test::TempFolder folder;
  const std::filesystem::path program = folder.path() / "waits";
  std::ofstream(program) << "#!/bin/sh\nexec sleep 1000\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  std::stop_source stop;
  PeerProcess process(program, stop.get_token());
  const std::jthread other([&] { stop.request_stop(); });
  EXPECT_THROW(process.ask({{"request", "libraries"}}), std::runtime_error);
}

class PeersTest : public testing::Test {
 protected:
  void SetUp() override {
    try {
      peers_ = start_peers(kPython, *cpu_, nullptr, 2, {});
    } catch (const std::runtime_error& error) {
      const std::string reason = error.what();
      ASSERT_THAT(reason, AnyOf(HasSubstr("No module named 'numpy'"), HasSubstr("does not start")));
      GTEST_SKIP() << reason;
    }
  }

  const std::unique_ptr<Device> cpu_ = make_cpu_device(1, PeakMeasurement::brief);
  std::unique_ptr<Peers> peers_;
};

TEST_F(PeersTest, gives_right_results_of_all_operations) {
  EXPECT_THAT(peers_->versions(), Contains(Key("NumPy")));
  for (const Precision precision : {Precision::float32, Precision::float64}) {
    for (const Shape& shape :
         {Shape{.operation = Operation::reconstruct,
         .precision = precision,
         .m = 70,
         .n = 33,
         .k = 9},
          Shape{.operation = Operation::multiply, .precision = precision, .m = 33, .n = 70, .k = 5},
          Shape{.operation = Operation::transpose, .precision = precision, .m = 70, .n = 33},
          Shape{.operation = Operation::add, .precision = precision, .n = 1001},
          Shape{
              .operation = Operation::multiply_vector, .precision = precision, .m = 7, .n = 65}}) {
      const std::vector<Array> operands = random_operands(shape, 1);
      const Reference reference(shape, operands);
      const auto prepared = peers_->prepare(shape, operands);
      EXPECT_THAT(prepared->variants(), Contains(Field(&Variant::name, "NumPy")));
      for (std::size_t i = 0; i < prepared->variants().size(); ++i) {
        EXPECT_LE(reference.relative_error(prepared->result(i).values), max_relative_error(shape))
            << prepared->variants()[i].name;
        EXPECT_GT(prepared->run(i).compute_s, 0);
      }
    }
  }
}

TEST_F(PeersTest, gives_right_images) {
  constexpr ImageBatch kBatch{.images = 2, .n = 64, .k = 5};
  const std::vector<Image> images = batch_images(kBatch);
  std::vector<std::uint8_t> pixels;
  for (const Image& image : images) {
    const auto* begin = reinterpret_cast<const std::uint8_t*>(image.data());
    pixels.insert(pixels.end(), begin, begin + image.bytes());
  }
  const auto gesvd = compute::cpu::make_cpu_backend({.solver = SolverKind::gesvd, .lanes = 1});
  const std::vector<double> optimal = scene_errors(*gesvd, kBatch);
  const auto prepared = peers_->prepare_images(pixels, kBatch.n, kBatch.k);
  ASSERT_EQ(prepared->variants().at(0).name, "NumPy svd");
  const std::vector<std::uint8_t> found = prepared->pixels(0);
  ASSERT_EQ(found.size(), pixels.size());
  EXPECT_LE(loss_db(squared_error(images[1], found.data() + images[0].bytes()), optimal[1]),
            kMaxLossDb);
  EXPECT_GT(prepared->run(0), 0);
}

TEST_F(PeersTest, limits_how_long_threads_wait_for_work) {
  const test::TempFolder folder;
  const std::filesystem::path script = folder.path() / "experiments.py",
                              limits = folder.path() / "limits";
  std::ofstream(script) << kPeerScript;
  const std::string command =
      "env -u OPENBLAS_THREAD_TIMEOUT -u GOMP_SPINCOUNT -u KMP_BLOCKTIME " + std::string(kPython) +
      " -c 'import os, runpy; runpy.run_path(\"" + script.string() +
      "\"); print(*(os.environ[name] for name in "
      "(\"OPENBLAS_THREAD_TIMEOUT\", \"GOMP_SPINCOUNT\", \"KMP_BLOCKTIME\")))' >" +
      limits.string();
  ASSERT_EQ(std::system(command.c_str()), 0);
  std::string line;
  std::getline(std::ifstream(limits), line);
  EXPECT_EQ(line, "20 10000 1");
}

TEST_F(PeersTest, says_what_failed_and_goes_on) {
  PeerProcess process(kPython, {});
  EXPECT_THROW(process.ask({{"request", "run"}, {"variant", 99}}), std::runtime_error);
  EXPECT_TRUE(process.ask({{"request", "libraries"}}).contains("libraries"));
}

}  // namespace
}  // namespace eckart::bench
