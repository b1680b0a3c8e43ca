// Matrices with so many elements that a 32-bit index or a grid dimension could overflow.
#include <string>

#include "core/quality.hpp"
#include "synth/synth.hpp"
#include "tests/backend/backend_fixture.hpp"

namespace eckart::test {
namespace {

struct LargeShape {
  int rows, cols, rank;  ///< the larger rank; the other is 20
};

class LargeMatrixTest : public ::testing::TestWithParam<LargeShape> {
 protected:
  void SetUp() override {
    try {
      backend_ = make(SolverKind::automatic);
    } catch (const FatalError& error) {
      GTEST_SKIP() << error.what();
    }
  }

  static std::unique_ptr<compute::Backend> make(SolverKind solver) {
    return app::make_backend(settings::BackendChoice::cuda,
                             {.solver = solver, .lanes = 1, .devices = {0}}, 1)
        .backend;
  }

  compute::Task reconstruct(synth::SynthKind kind) {
    const Image image = synth::synthesize(
        {.kind = kind, .rows = GetParam().rows, .cols = GetParam().cols, .channels = 1});
    compute::Task task = make_task(image, {20, GetParam().rank});
    compute::Task* const batch[] = {&task};
    const auto lane = backend_->make_lane(0);
    lane->start(0, compute::batch_key(task, 32), batch);
    lane->finish(0);
    EXPECT_EQ(task.error, "");
    return task;
  }

  std::unique_ptr<compute::Backend> backend_;
};

double squared_error(const compute::Task& task, std::size_t output) {
  double sum = 0;
  for (std::size_t at = 0; at < task.input.bytes(); ++at) {
    const int difference = int(task.input.data()[at]) - int(task.outputs[output].data()[at]);
    sum += double(difference * difference);
  }
  return sum;
}

TEST_P(LargeMatrixTest, is_certified_and_reported_correctly) {
  const compute::Task task = reconstruct(synth::SynthKind::texture);
  for (std::size_t output = 0; output < 2; ++output) {
    const compute::PlaneResult& result = task.results[output][0];
    EXPECT_LE(result.loss_estimate_db, kMaxLossDb);
    EXPECT_EQ(result.squared_error, squared_error(task, output));
    EXPECT_GT(result.energy, 0.5);
  }
  EXPECT_LT(task.results[1][0].residual, task.results[0][0].residual);
}

/// Shapes for which a full decomposition of A'A in float64 takes seconds, not minutes.
class LargeMatrixAgainstGramTest : public LargeMatrixTest {};

TEST_P(LargeMatrixAgainstGramTest, has_a_loss_within_the_certificate) {
  const compute::Task task = reconstruct(synth::SynthKind::texture);
  backend_ = make(SolverKind::gram);
  const compute::Task reference = reconstruct(synth::SynthKind::texture);
  for (std::size_t output = 0; output < 2; ++output) {
    const compute::PlaneResult &found = task.results[output][0],
                               &best = reference.results[output][0];
    EXPECT_LT(best.loss_estimate_db, 1e-6);
    EXPECT_LE(loss_db(found.residual, best.residual), found.loss_estimate_db + 1e-6);
  }
}

TEST_P(LargeMatrixTest, is_reconstructed_exactly_at_low_rank) {
  const compute::Task task = reconstruct(synth::SynthKind::low_rank);  // of rank 20
  for (std::size_t output = 0; output < 2; ++output) EXPECT_EQ(squared_error(task, output), 0);
}

std::string name_of(const ::testing::TestParamInfo<LargeShape>& large) {
  return std::to_string(large.param.rows) + "x" + std::to_string(large.param.cols) + "_rank_" +
         std::to_string(large.param.rank);
}

INSTANTIATE_TEST_SUITE_P(Cuda, LargeMatrixAgainstGramTest,
                         ::testing::Values(LargeShape{16384, 4096, 50},
                                           LargeShape{4096, 16384, 300}),
                         name_of);

INSTANTIATE_TEST_SUITE_P(Cuda, LargeMatrixTest,
                         ::testing::Values(LargeShape{8192, 8192, 50}, LargeShape{16384, 4096, 50},
                                           LargeShape{4096, 16384, 50}, LargeShape{8192, 8192, 200},
                                           LargeShape{4096, 16384, 300}),
                         name_of);

}  // namespace
}  // namespace eckart::test
