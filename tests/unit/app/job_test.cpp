#include "app/job.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "io/publication.hpp"
#include "io/read_file.hpp"
#include "pipeline/full_rank_filter.hpp"
#include "tests/pipeline/fake_memory.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/codec/test_images.hpp"

namespace eckart::app {
namespace {

/// Takes one image through the steps of a job. At full rank, no backend is needed.
class JobTest : public testing::Test {
 protected:
  JobTest() {
    const Image image = test::gradient_image({20, 30, 1, Depth::u8});
    io::publish_file(input_, codec::codec_for(ImageFormat::png).encode(image, {}));
    JobRequest request;
    request.settings.ranks = {{1000}};
    request.inputs = {in_.path()};
    request.output = out_.path();
    job_.emplace(std::move(request));
    job_->prepare();
    item_ = pipeline::make_work_item({.file = input_, .relative = "a.png", .outcome = {}});
    job_->assign_outputs(*item_);
  }

  void load_and_write() {
    test::FakeMemory memory([this](std::size_t bytes) { return budget_.reserve(bytes); });
    job_->load(*item_, memory);
    item_->advance(pipeline::ItemState::loaded);
    pipeline::complete_outputs(*item_);
    item_->advance(pipeline::ItemState::computed);
    job_->write(*item_);
    item_->advance(pipeline::ItemState::written);
  }
  Outcome publish() {
    std::vector<pipeline::ItemPtr> group;
    group.push_back(std::move(item_));
    job_->publish(group);
    return group.front()->outcome;
  }

  const test::TempFolder in_, out_;
  const std::filesystem::path input_ = in_.path() / "a.png", output_ = out_.path() / "a.png";
  flow::Budget budget_{std::size_t(1) << 30};
  std::optional<Job> job_;
  pipeline::ItemPtr item_;
};

TEST_F(JobTest, writes_outputs_that_did_not_exist) {
  EXPECT_TRUE(item_->outputs_are_free);
  load_and_write();
  EXPECT_TRUE(publish().ok());
  EXPECT_TRUE(std::filesystem::exists(output_));
}

TEST_F(JobTest, replaces_no_file_that_another_program_creates_during_the_run) {
  ASSERT_TRUE(item_->outputs_are_free);
  const std::vector<std::byte> precious(5, std::byte('x'));
  io::publish_file(output_, precious);
  load_and_write();
  EXPECT_EQ(publish().reason, FailureReason::output_collision);
  EXPECT_EQ(io::read_file(output_, /*max_mb=*/1), precious);
}

}  // namespace
}  // namespace eckart::app
