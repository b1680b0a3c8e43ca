// A rank of at least min(rows, cols) returns the image itself without a decomposition. A rank whose
// files exist is not computed.
#include "pipeline/full_rank_filter.hpp"

#include <gtest/gtest.h>

#include "io/publication.hpp"
#include "pipeline/output_quality.hpp"
#include "tests/pipeline/fakes.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/codec/test_images.hpp"

namespace eckart::test {
namespace {

/// Runs one image of 8 x 12 pixels through a pipeline at these ranks.
class FullRankTest : public testing::Test {
 protected:
  telemetry::RunReport run(std::vector<RankPolicy> ranks,
                           const std::function<void(const pipeline::WorkItem&)>& check) {
    ranks_ = std::move(ranks);
    io::publish_file(folder_.path() / "a.png",
                     codec::codec_for(ImageFormat::png).encode(image_, {}));
    const auto source = io::make_source(folder_.path());
    pipeline::Loader loader({}, ranks_, &codec::codec_for(ImageFormat::png));
    FakeSteps steps(backend_);
    steps.on_assign_outputs = [&](pipeline::WorkItem& item) {
      item.outputs.assign(ranks_.size() * (has_residuals_ ? 2 : 1), item.relative);
      item.skipped_reports.resize(item.outputs.size());
      item.output_bytes.resize(item.outputs.size());
      for (const std::size_t output : skipped_) item.skipped_reports[output] = "{}";
    };
    steps.on_load = [&](pipeline::WorkItem& item, pipeline::LoadContext& memory) {
      loader.load(item, std::nullopt, memory);
    };
    steps.on_write = check;
    pipeline::Pipeline pipeline(*source, steps, test_options(1, 1));
    return pipeline.run();
  }

  void expect_the_image(const pipeline::WorkItem& item, std::size_t output) {
    EXPECT_TRUE(same(item.task.outputs.at(output), image_));
    for (const compute::PlaneResult& plane : item.task.results.at(output)) {
      EXPECT_EQ(plane.rank, 8);
      EXPECT_EQ(plane.energy, 1);
      EXPECT_EQ(plane.residual, 0);
      EXPECT_EQ(plane.squared_error, 0);
      EXPECT_EQ(plane.loss_estimate_db, 0);
      EXPECT_FALSE(plane.is_recomputed);
    }
  }

  const Image image_ = noise_image({8, 12, 3, Depth::u8});
  FakeBackend backend_;
  std::vector<std::size_t> skipped_;  // indices of outputs that exist
  bool has_residuals_ = false;

 private:
  const TempFolder folder_;
  std::vector<RankPolicy> ranks_;
};

TEST_F(FullRankTest, is_not_computed) {
  for (const int rank : {8, 9, 1000}) {
    int written = 0;
    const telemetry::RunReport report = run({{rank}}, [&](const pipeline::WorkItem& item) {
      expect_the_image(item, 0);
      ++written;
    });
    EXPECT_EQ(written, 1);
    EXPECT_EQ(report.done, 1);
    EXPECT_EQ(report.outputs, 1);
    EXPECT_EQ(report.planes, 3);
    EXPECT_EQ(report.psnr_db_min, 99) << "as exact outputs count";
  }
  EXPECT_TRUE(backend_.started().empty());
}

TEST_F(FullRankTest, leaves_only_lower_ranks_to_compute) {
  run({{100}, {7}, {8}}, [&](const pipeline::WorkItem& item) {
    ASSERT_EQ(item.task.outputs.size(), 3u);
    ASSERT_EQ(item.task.results.size(), 3u);
    expect_the_image(item, 0);
    expect_the_image(item, 2);
    EXPECT_EQ(item.task.results[1].front().rank, 0) << "as the backend of this test leaves it";
    ASSERT_EQ(item.task.ranks.size(), 1u);
    EXPECT_EQ(item.task.ranks[0], RankPolicy(7));
  });
  EXPECT_EQ(backend_.started().size(), 1u);
}

TEST_F(FullRankTest, depends_on_the_shorter_side) {
  run({{7}},
      [&](const pipeline::WorkItem& item) { EXPECT_EQ(item.task.results[0].front().rank, 0); });
  EXPECT_EQ(backend_.started().size(), 1u);
}

class WrittenRankTest : public FullRankTest {};

TEST_F(WrittenRankTest, is_not_computed) {
  skipped_ = {0, 2};
  run({{8}, {5}, {3}, {9}, {7}}, [&](const pipeline::WorkItem& item) {
    EXPECT_EQ(item.task.ranks, (std::vector<RankPolicy>{5, 7}));
    ASSERT_EQ(item.task.outputs.size(), 5u);
    EXPECT_TRUE(item.task.outputs[0].empty() && item.task.outputs[2].empty());
    EXPECT_TRUE(item.task.results[0].empty() && item.task.results[2].empty());
    EXPECT_FALSE(item.task.outputs[1].empty() || item.task.outputs[4].empty());
    expect_the_image(item, 3);
    EXPECT_EQ(item.reservation.bytes(), image_.bytes() * (1 + 3));
  });
  EXPECT_EQ(backend_.started().size(), 1u);
}

TEST_F(WrittenRankTest, is_computed_for_a_missing_residual) {
  has_residuals_ = true;
  skipped_ = {0, 1, 2, 4};  // the outputs of all ranks, and the residual of 6
  run({{5}, {6}, {7}}, [&](const pipeline::WorkItem& item) {
    EXPECT_EQ(item.task.ranks, (std::vector<RankPolicy>{5, 7}));
  });
}

TEST_F(WrittenRankTest, leaves_nothing_for_the_backend_beside_full_ranks) {
  skipped_ = {0};
  run({{5}, {8}}, [&](const pipeline::WorkItem& item) {
    EXPECT_TRUE(item.task.outputs[0].empty());
    expect_the_image(item, 1);
  });
  EXPECT_TRUE(backend_.started().empty());
}

}  // namespace
}  // namespace eckart::test
