#include "app/input_disposal.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "app/requeue.hpp"
#include "core/error.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/io/make_rooted_file.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;
using settings::DoneInputAction;
using Result = InputDisposal::Result;

class InputDisposalTest : public testing::Test {
 protected:
  void SetUp() override {
    watch_.input = at("in");
    watch_.output = at("out");
    fs::create_directory(watch_.input);
    fs::create_directories(at("out/.eckart"));
  }
  fs::path at(const fs::path& name) const { return folder_.path() / name; }
  /// Returns the item of a new file in the input folder.
  pipeline::WorkItem item(const fs::path& name, Outcome outcome = {}) const {
    fs::create_directories((watch_.input / name).parent_path());
    std::ofstream(watch_.input / name) << "image";
    pipeline::WorkItem item;
    item.file = watch_.input / name;
    item.relative = name;
    item.rooted_file = io::make_rooted_file(watch_.input, name);
    item.identity = io::identity_of(item.rooted_file);
    item.file_state = item.identity.state;
    item.outcome = std::move(outcome);
    return item;
  }
  pipeline::WorkItem failed_item(const fs::path& name) const {
    return item(name, Outcome::failed(Stage::load, FailureReason::corrupt, "why"));
  }
  Result dispose_of(const pipeline::WorkItem& item) {
    InputDisposal::Disposal disposal =
        InputDisposal(watch_, quarantine_, backoff_).dispose_of(item);
    message_ = std::move(disposal.message);
    return disposal.result;
  }
  bool is_due(const pipeline::WorkItem& item) const {
    return backoff_.is_due(item.file, item.file_state, Clock::now());
  }
  fs::path quarantined(const std::string& name) const {
    return at("out/.eckart/quarantine") / name;
  }
  nlohmann::json record(const std::string& name) const {
    std::ifstream file(quarantined(name));
    return nlohmann::json::parse(file, nullptr, false);
  }

  const test::TempFolder folder_;
  settings::WatchSettings watch_;
  io::Quarantine quarantine_{at("out"), {}};
  RetryBackoff backoff_;
  std::string message_;  // of the last dispose_of()
};

TEST_F(InputDisposalTest, keeps_a_done_input_unless_told_otherwise) {
  EXPECT_EQ(dispose_of(item("a.png")), Result::kept);
  EXPECT_TRUE(fs::exists(at("in/a.png")));
}

TEST_F(InputDisposalTest, deletes_a_done_input) {
  watch_.after = DoneInputAction::remove;
  EXPECT_EQ(dispose_of(item("a.png")), Result::removed);
  EXPECT_TRUE(fs::is_empty(at("in")));
}

TEST_F(InputDisposalTest, moves_done_inputs_with_their_folders) {
  watch_.after = DoneInputAction::move;
  watch_.move_to = at("done/today");
  EXPECT_EQ(dispose_of(item("deep/a.png")), Result::removed);
  EXPECT_FALSE(fs::exists(at("in/deep/a.png")));
  EXPECT_TRUE(fs::exists(at("done/today/deep/a.png")));
  EXPECT_EQ(dispose_of(item("deep/a.png")), Result::removed) << "another file of this name";
  EXPECT_EQ(std::distance(fs::directory_iterator(at("done/today/deep")), {}), 2);
}

TEST_F(InputDisposalTest, keeps_a_file_that_has_replaced_the_input) {
  watch_.after = DoneInputAction::remove;
  for (const pipeline::WorkItem& item : {item("a.png"), failed_item("b.png")}) {
    std::ofstream(at("new")) << "another image";
    fs::rename(at("new"), item.file);
    dispose_of(item);
    EXPECT_TRUE(fs::exists(item.file));
  }
}

/// Some programs change the ctime after each read, so this is done once.
TEST_F(InputDisposalTest, keeps_an_input_once_that_may_have_been_written_to) {
  watch_.after = DoneInputAction::remove;
  InputDisposal disposal(watch_, quarantine_, backoff_);
  pipeline::WorkItem input = item("a.png");
  const auto time = fs::last_write_time(input.file);
  const auto write_again = [&] {
    input.identity.ctime_ns -= 1;  // as if it had been written to since
    std::ofstream(input.file) << "other";
    fs::last_write_time(input.file, time);
  };
  write_again();
  EXPECT_EQ(disposal.dispose_of(input).result, Result::replaced);
  EXPECT_TRUE(fs::exists(input.file));
  write_again();
  EXPECT_EQ(disposal.dispose_of(input).result, Result::removed);
  EXPECT_FALSE(fs::exists(input.file));
}

TEST_F(InputDisposalTest, quarantines_a_failed_input_with_its_record) {
  for (const auto after : {DoneInputAction::remove, DoneInputAction::move}) {
    watch_.after = after;
    watch_.move_to = after == DoneInputAction::move ? at("done") : "";
    const pipeline::WorkItem item = failed_item(to_string(after) + ".png");
    EXPECT_EQ(dispose_of(item), Result::quarantined);
    EXPECT_FALSE(fs::exists(item.file));
    EXPECT_TRUE(fs::exists(quarantined(item.relative)));
    const nlohmann::json record = this->record(item.relative.native() + ".record.json");
    EXPECT_EQ(record.value("sha256", "").size(), 64U);
  }
}

TEST_F(InputDisposalTest, records_only_a_failed_input_that_is_kept) {
  const pipeline::WorkItem item = failed_item("a.png");
  EXPECT_EQ(dispose_of(item), Result::quarantined);
  EXPECT_TRUE(fs::exists(item.file));
  EXPECT_FALSE(fs::exists(quarantined("a.png")));
  EXPECT_EQ(record("a.png.kept.json").value("input", ""), item.file.native());
}

TEST_F(InputDisposalTest, says_how_to_retry_a_failed_input) {
  const auto hint = [&](const std::string& name) {
    return testing::EndsWith("To retry it, run: eckart requeue " + at("out").native() + " " + name);
  };
  dispose_of(failed_item("deep/a b.png"));
  EXPECT_THAT(message_, hint("'deep/a b.png'"));
  watch_.after = DoneInputAction::remove;
  dispose_of(failed_item("deep/c.png"));
  EXPECT_THAT(message_, hint("deep/c.png"));
  EXPECT_EQ(requeue(at("out"), {"deep/a b.png", "deep/c.png"}).size(), 2u);
}

TEST_F(InputDisposalTest, says_what_became_of_a_failed_input) {
  dispose_of(failed_item("deep/a.png"));
  EXPECT_EQ(message_, at("in/deep/a.png").native() + " was left in place; see " +
                          quarantined("deep/a.png.kept.json").native() +
                          ". To retry it, run: eckart requeue " + at("out").native() +
                          " deep/a.png");
  watch_.after = DoneInputAction::remove;
  dispose_of(failed_item("deep/c.png"));
  EXPECT_EQ(message_, at("in/deep/c.png").native() + " was quarantined as " +
                          quarantined("deep/c.png").native() +
                          ". To retry it, run: eckart requeue " + at("out").native() +
                          " deep/c.png");
  EXPECT_TRUE(fs::exists(quarantined("deep/c.png")));
  dispose_of(item("d.png"));
  EXPECT_EQ(message_, "") << "a done input is no news";
  EXPECT_EQ(dispose_of(failed_item("deep/c.png")), Result::quarantined) << "another of this name";
  EXPECT_EQ(std::distance(fs::directory_iterator(quarantined("deep")), {}), 5);
}

TEST_F(InputDisposalTest, records_what_failed) {
  const pipeline::WorkItem item = failed_item("a.png");
  dispose_of(item);
  const nlohmann::json record = this->record("a.png.kept.json");
  EXPECT_EQ(record.value("reason", ""), "corrupt");
  EXPECT_EQ(record.value("stage", ""), "load");
  EXPECT_EQ(record.value("detail", ""), "why");
  EXPECT_EQ(record.value("input_bytes", 0), 5);
  EXPECT_EQ(record.value("sha256", ""),
            "6105d6cc76af400325e94d588ce511be5bfdbb73b437dc51eca43917d7a43e3d");
}

TEST_F(InputDisposalTest, says_how_to_retry_inputs_with_names_that_a_shell_would_change) {
  for (const std::string name :
       {"-x.png", "back\\slash.png", "it's.png", "$HOME.png", "two\nlines.png", "\xff'\\1.png",
        "right\u202eto left.png", "ü.png"}) {
    dispose_of(failed_item(name));
    const std::string command = message_.substr(message_.find("eckart requeue"));
    std::ofstream(at("script")) << "eckart() { printf '%s|' \"$@\"; }\n" << command << '\n';
    const std::string bash = "bash " + at("script").native() + " > " + at("arguments").native();
    ASSERT_EQ(std::system(bash.c_str()), 0) << command;
    const std::string separator = name.starts_with('-') ? "--|" : "";
    std::ifstream arguments(at("arguments"), std::ios::binary);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(arguments), {}),
              "requeue|" + separator + at("out").native() + "|" + name + "|")
        << command;
  }
}

TEST_F(InputDisposalTest, removes_the_record_of_a_kept_input_once_it_is_done) {
  dispose_of(failed_item("a.png"));
  EXPECT_TRUE(quarantine_.has_kept_record("a.png"));
  dispose_of(item("a.png"));
  EXPECT_FALSE(quarantine_.has_kept_record("a.png"));
}

TEST_F(InputDisposalTest, retries_an_input_later_that_cannot_be_moved) {
  std::ofstream(at("a file")) << "x";
  watch_.after = DoneInputAction::move;
  watch_.move_to = at("a file/done");
  const pipeline::WorkItem item = this->item("a.png");
  EXPECT_EQ(dispose_of(item), Result::kept);
  EXPECT_TRUE(fs::exists(item.file));
  EXPECT_FALSE(is_due(item));
  watch_.move_to = at("done");
  EXPECT_EQ(dispose_of(item), Result::removed);
  EXPECT_TRUE(is_due(item));
}

/// The disk of the folder may be unmounted.
TEST_F(InputDisposalTest, does_not_create_the_folder_of_done_inputs_again) {
  watch_.after = DoneInputAction::move;
  watch_.move_to = at("done");
  InputDisposal disposal(watch_, quarantine_, backoff_);
  EXPECT_NO_THROW(disposal.check_move_to()) << "it does not exist yet";
  EXPECT_EQ(disposal.dispose_of(item("a.png")).result, Result::removed);
  fs::remove_all(at("done"));
  EXPECT_THROW(disposal.check_move_to(), EnvironmentError);
  EXPECT_THROW(disposal.dispose_of(item("b.png")), EnvironmentError);
  EXPECT_TRUE(fs::exists(at("in/b.png")));
  EXPECT_FALSE(fs::exists(at("done")));
}

}  // namespace
}  // namespace eckart::app
