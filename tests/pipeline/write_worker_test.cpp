// Tests publishing and recording of groups of images.
#include "pipeline/write_worker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/write.hpp"
#include "tests/pipeline/fakes.hpp"
#include "tests/support/temp_folder.hpp"

namespace eckart::test {
namespace {

using testing::ElementsAre;

/// Writes down what is recorded.
class RecordingOwner : public FakeOwner {
 public:
  void record(std::span<pipeline::WorkItem* const> items,
              std::span<pipeline::WorkItem* const> next) override {
    if (on_record) on_record();
    calls.push_back("results" + numbers_of(items) + ", intents" + numbers_of(next));
  }

  std::function<void()> on_record;
  std::vector<std::string> calls;

 private:
  static std::string numbers_of(std::span<pipeline::WorkItem* const> items) {
    std::string text;
    for (const pipeline::WorkItem* item : items) text += " " + item->file.string();
    return text;
  }
};

/// A write worker on the thread of the test, whose queue has some images and is closed.
class WriteWorkerTest : public testing::Test {
 protected:
  WriteWorkerTest() {
    options_.max_unrecorded = std::chrono::hours(1);
    steps_.on_write = [this](pipeline::WorkItem& item) {
      if (on_write) on_write(item);
      item.publication.add(folder_.path() / item.file, std::vector<std::byte>(1));
    };
    steps_.on_publish = [this](std::span<pipeline::ItemPtr> group) {
      pipeline::publish_outputs(group, owner_, false);
    };
  }
  void push(int images) {
    for (int number = 1; number <= images; ++number) {
      auto item = make_item(number, kSmall);
      item->file = std::to_string(number);
      item->outputs = {folder_.path() / item->file};
      tally_.add_found(Clock::now());
      ASSERT_TRUE(queue_.push(std::move(item)));
    }
    queue_.close();
  }
  bool run(const std::function<bool()>& leaves = [] { return false; }) {
    pipeline::WriteStage stage{
        steps_,
        options_,
        queue_,
        tally_,
        meters_,
        activity_,
        pipeline::SpaceMonitor(false, options_.space_poll_interval, std::stop_token())};
    flow::StageClock clock(1);
    pipeline::ThreadTrace trace(nullptr, Stage::write, 0);
    flow::StageClock::Worker worker(clock, 0);
    return pipeline::WriteWorker(stage, worker, trace).run(leaves);
  }
  std::int64_t done() const { return tally_.report().done; }

  const TempFolder folder_;
  FakeBackend backend_;
  FakeSteps steps_{backend_};
  RecordingOwner owner_;
  std::function<void(const pipeline::WorkItem&)> on_write;
  pipeline::PipelineOptions options_ = test_options(1, 1);
  pipeline::ItemChannel queue_{100};
  pipeline::Meters meters_;
  pipeline::Tally tally_{meters_};
  pipeline::Activity activity_;
};

TEST_F(WriteWorkerTest, records_a_group_together_with_the_intents_of_the_next) {
  options_.publish_group_files = 2;
  push(5);
  EXPECT_FALSE(run());
  EXPECT_THAT(owner_.calls, ElementsAre("results, intents 1 2", "results 1 2, intents 3 4",
                                        "results 3 4, intents 5", "results 5, intents"));
  EXPECT_EQ(done(), 5);
}

TEST_F(WriteWorkerTest, records_a_group_that_took_long_at_once) {
  options_.publish_group_files = 2;
  options_.max_unrecorded = std::chrono::milliseconds(0);
  push(3);
  EXPECT_FALSE(run());
  EXPECT_THAT(owner_.calls, ElementsAre("results, intents 1 2", "results 1 2, intents",
                                        "results, intents 3", "results 3, intents"));
}

TEST_F(WriteWorkerTest, records_what_it_has_published_before_it_leaves) {
  options_.publish_group_files = 2;
  push(5);
  EXPECT_TRUE(run([this] { return owner_.calls.size() == 2; }));
  EXPECT_EQ(owner_.calls.back(), "results 3 4, intents");
  EXPECT_EQ(done(), 4);
}

TEST_F(WriteWorkerTest, records_what_it_has_published_before_the_run_ends_with_an_error) {
  options_.publish_group_files = 2;
  on_write = [](const pipeline::WorkItem& item) {
    if (item.file == "4") throw EnvironmentError("no space");
  };
  push(5);
  EXPECT_THROW(run(), EnvironmentError);
  EXPECT_EQ(owner_.calls.back(), "results 3, intents");
  EXPECT_EQ(done(), 3);
}

TEST_F(WriteWorkerTest, records_what_it_has_published_if_a_fatal_error_ends_the_run) {
  options_.publish_group_files = 2;
  on_write = [](const pipeline::WorkItem& item) {
    if (item.file == "4") throw FatalError(ExitCode::internal, "a bug");
  };
  push(5);
  EXPECT_THROW(run(), FatalError);
  EXPECT_EQ(owner_.calls.back(), "results 1 2, intents");
  EXPECT_EQ(done(), 2);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "3"));
}

TEST_F(WriteWorkerTest, counts_what_it_has_published_if_the_ledger_cannot_be_written) {
  options_.publish_group_files = 2;
  owner_.on_record = [this] {
    if (owner_.calls.size() == 1) throw EnvironmentError("no space");
  };
  push(5);
  EXPECT_THROW(run(), EnvironmentError);
  EXPECT_EQ(done(), 2);
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "2"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "3"));
}

}  // namespace
}  // namespace eckart::test
