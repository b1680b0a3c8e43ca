// A rank of at least min(rows, cols) returns the image itself without a decomposition.
#include "pipeline/full_rank_filter.hpp"

#include <gtest/gtest.h>

#include "io/publication.hpp"
#include "pipeline/output_quality.hpp"
#include "tests/pipeline/fakes.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/io/test_images.hpp"

namespace eckart::test {
namespace {

/// Runs one image of 8 x 12 pixels through a pipeline at these ranks.
class FullRankTest : public testing::Test {
 protected:
  telemetry::RunReport run(std::vector<RankPolicy> ranks,
                           const std::function<void(const pipeline::WorkItem&)>& check) {
    ranks_ = std::move(ranks);
    io::publish_file(folder_.path() / "a.png", io::codec_for(ImageFormat::png).encode(image_, {}));
    const auto source = io::make_source(folder_.path());
    pipeline::Loader loader({}, ranks_, &io::codec_for(ImageFormat::png));
    FakeSteps steps(backend_);
    steps.on_assign_outputs = [&](pipeline::WorkItem& item) {
      item.outputs.assign(ranks_.size(), item.relative);
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

}  // namespace
}  // namespace eckart::test
