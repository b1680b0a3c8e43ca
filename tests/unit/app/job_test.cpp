#include "app/job.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "io/publication.hpp"
#include "io/read_file.hpp"
#include "ledger/ledger.hpp"
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

/// A job of the folder in, with its own ledger or a shared one.
class JobLedgerTest : public testing::Test {
 protected:
  std::filesystem::path at(const std::filesystem::path& name) const {
    return folder_.path() / name;
  }
  Job& prepare(settings::FileChoice ledger = {}, bool overwrite = false) {
    job_.reset();
    std::filesystem::create_directories(at("in/folder"));
    JobRequest request;
    request.settings.ranks = {{7}};
    request.settings.ledger = std::move(ledger);
    request.inputs = {at("in/../in")};
    request.files_from = "list";
    request.output = at("out");
    request.overwrite = overwrite;
    request.is_quarantined = [this](const auto& input) {
      return input == at("in/quarantined.png");
    };
    job_.emplace(std::move(request));
    job_->prepare();
    return *job_;
  }
  ledger::FailureEntry failure_of(const std::string& input) const {
    return {at(input), {}, FailureReason::corrupt, "why"};
  }
  static std::vector<std::string> failures(ledger::Ledger& ledger) {
    std::vector<std::string> names;
    for (const auto& failure : ledger.failures(100))
      names.push_back(std::filesystem::path(failure.input).filename());
    return names;
  }

  const test::TempFolder folder_;
  std::optional<Job> job_;
};

TEST_F(JobLedgerTest, records_its_request) {
  prepare();
  EXPECT_TRUE(job_->has_ledger());
  EXPECT_TRUE(job_->holds_lock());
  EXPECT_EQ(job_->run_number(), 1);
  prepare();
  EXPECT_EQ(job_->run_number(), 2);
  const auto ledger = ledger::Ledger::open_read_only(at("out/.eckart/ledger.db"));
  const auto request = ledger->request();
  ASSERT_TRUE(request);
  EXPECT_EQ(request->inputs, std::vector<std::string>{at("in").native()});
  EXPECT_EQ(request->files_from, "list");
  EXPECT_EQ(settings::parse_settings(request->settings, "ledger").ranks,
            std::vector<RankPolicy>{7});
  EXPECT_FALSE(request->links) << "it is no watch";
}

TEST_F(JobLedgerTest, forgets_failures_of_inputs_that_are_gone) {
  for (const bool is_shared : {false, true}) {
    const auto choice =
        is_shared ? settings::FileChoice::at(at("shared.db")) : settings::FileChoice{};
    const auto file = is_shared ? at("shared.db") : at("out/.eckart/ledger.db");
    std::filesystem::create_directories(at("in/folder"));
    std::filesystem::create_directories(at("elsewhere"));
    std::ofstream(at("in/there.png")) << "bad";
    ledger::Ledger(file).record(
        {.done = {},
         .failed = {failure_of("in/there.png"), failure_of("in/gone.png"),
                    failure_of("in/quarantined.png"), failure_of("in/folder"),
                    failure_of("elsewhere/gone2.png")},
         .cleared = {}});
    prepare(choice);
    const auto ledger = ledger::Ledger::open_read_only(file);
    EXPECT_EQ(failures(*ledger),
              (is_shared ? std::vector<std::string>{"gone2.png", "quarantined.png", "there.png"}
                         : std::vector<std::string>{"quarantined.png", "there.png"}))
        << "a shared ledger may have those of other folders";
  }
}

TEST_F(JobLedgerTest, forgets_outputs_that_were_deleted) {
  const auto record = [&](const std::string& prefix) {
    ledger::LedgerChanges changes;
    for (const char* name : {"there.png", "gone.png", "link.png"})
      changes.done.push_back({.output = prefix + name,
                              .input = at("in") / name,
                              .settings = 1,
                              .state = {},
                              .bytes = 1});
    return changes;
  };
  Job& job = prepare();
  std::ofstream(at("out/there.png")) << "x";
  std::filesystem::create_symlink("nowhere", at("out/link.png"));
  ledger::Ledger ledger(at("out/.eckart/ledger.db"));
  ledger.record(record(""));
  std::optional<std::string> after = "";
  while (after) after = job.forget_missing_outputs(*after);
  EXPECT_TRUE(ledger.find("there.png"));
  EXPECT_TRUE(ledger.find("link.png")) << "there is something";
  EXPECT_FALSE(ledger.find("gone.png"));
}

TEST_F(JobLedgerTest, forgets_no_output_if_its_folder_was_moved) {
  Job& job = prepare();
  EXPECT_TRUE(job.is_in_place());
  std::filesystem::rename(at("out"), at("moved"));
  EXPECT_FALSE(job.is_in_place());
  EXPECT_THROW(job.check_in_place(), EnvironmentError);
  EXPECT_THROW(job.forget_missing_outputs(""), EnvironmentError);
}

TEST_F(JobLedgerTest, forgets_suspects_only_if_it_overwrites) {
  prepare();
  job_.reset();
  const ledger::Suspect suspects[] = {{at("in/a.png"), {}, 2}};
  ledger::Ledger(at("out/.eckart/ledger.db")).record_suspects(suspects);
  prepare();
  EXPECT_EQ(ledger::Ledger::open_read_only(at("out/.eckart/ledger.db"))->suspects().size(), 1U);
  prepare({}, /*overwrite=*/true);
  EXPECT_EQ(ledger::Ledger::open_read_only(at("out/.eckart/ledger.db"))->suspects().size(), 0U);
}

TEST_F(JobLedgerTest, makes_nothing_if_it_only_reads) {
  std::filesystem::create_directories(at("in"));
  JobRequest request;
  request.inputs = {at("in")};
  request.output = at("out");
  Job job(request);
  job.prepare_read_only();
  EXPECT_FALSE(job.has_ledger());
  EXPECT_FALSE(job.holds_lock());
  EXPECT_EQ(job.run_number(), 0);
  EXPECT_FALSE(std::filesystem::exists(at("out")));
  prepare();
  Job again(request);
  again.prepare_read_only();
  EXPECT_TRUE(again.has_ledger());
  EXPECT_EQ(again.run_number(), 2) << "the run that would follow";
}

TEST_F(JobLedgerTest, is_refused_if_its_settings_contradict_each_other) {
  JobRequest request;
  request.settings.chroma_rank = RankPolicy{5};
  request.output = at("out");
  EXPECT_THROW(Job{request}, std::invalid_argument);
  request.settings.chroma_rank.reset();
  request.settings.ledger = settings::FileChoice::at(at("other/.eckart/ledger.db"));
  EXPECT_THROW(Job{request}, FatalError);
  request.settings.ledger = {};
  request.inputs = {at("out")};
  std::filesystem::create_directories(at("out"));
  EXPECT_THROW(Job{request}, FatalError) << "outputs would be inputs";
}

}  // namespace
}  // namespace eckart::app
