#include "app/output_naming.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <optional>
#include <string>

#include "io/input_file.hpp"
#include "tests/pipeline/fakes.hpp"
#include "tests/support/temp_folder.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;

/// The inputs in/a.jpg and in/a.png, which both have the usual output out/a.png.
class OutputNamingTest : public ::testing::Test {
 protected:
  OutputNamingTest() {
    for (const char* folder : {"in", "out"}) fs::create_directory(at(folder));
    for (const char* file : {"in/a.jpg", "in/a.png"}) write(file);
  }

  fs::path at(const fs::path& name) const { return folder_.path() / name; }
  void write(const fs::path& name) const { std::ofstream(at(name)) << "image"; }
  pipeline::WorkItem item(const std::string& name) const {
    pipeline::WorkItem item;
    item.file = at("in") / name;
    item.relative = name;
    return item;
  }
  /// Writes and records the output of an input, as an earlier run.
  void make_output(const std::string& input, const std::string& output) {
    pipeline::WorkItem made = item(input);
    made.file_state = io::InputFile(made.file).state();
    made.outputs = {at("out") / output};
    write(made.outputs.front());
    made.output_bytes = {5};
    test::fill(made, 1);
    pipeline::WorkItem* const items[] = {&made};
    pipeline::Resume(ledger_, options()).record(items);
  }
  /// The next run.
  OutputNaming& start_run(bool is_watch = false) {
    resume_.emplace(ledger_, options());
    return naming_.emplace(tree_, resume_, is_watch);
  }
  OutputNaming& start_run_without_ledger() { return naming_.emplace(tree_, resume_, false); }
  /// The name that the run assigns to the output of an input.
  fs::path assigned(const std::string& input) {
    pipeline::WorkItem assigned = item(input);
    naming_->assign(assigned);
    return assigned.outputs.at(0).filename();
  }

 private:
  pipeline::ResumeOptions options() const { return {.root = at("out"), .settings = {"rank 7"}}; }

  const test::TempFolder folder_;
  ledger::Ledger ledger_{at("ledger.db")};
  io::OutputTree tree_{at("out"),
                       io::OutputTree::default_name(1),
                       &codec::codec_for(ImageFormat::png),
                       {RankPolicy{7}}};
  std::optional<pipeline::Resume> resume_;
  std::optional<OutputNaming> naming_;
};

TEST_F(OutputNamingTest, gives_the_full_name_to_the_second_of_two_inputs) {
  start_run();
  EXPECT_EQ(assigned("a.jpg"), "a.png");
  EXPECT_EQ(assigned("a.png"), "a.png.png");
}

TEST_F(OutputNamingTest, keeps_a_full_name_although_the_input_is_first_in_this_run) {
  make_output("a.png", "a.png.png");
  start_run();
  EXPECT_EQ(assigned("a.png"), "a.png.png");
  EXPECT_EQ(assigned("a.jpg"), "a.png");
}

TEST_F(OutputNamingTest, keeps_the_usual_name_although_the_input_is_second_in_this_run) {
  make_output("a.jpg", "a.png");
  OutputNaming& naming = start_run();
  EXPECT_EQ(assigned("a.png"), "a.png");
  pipeline::WorkItem second = item("a.jpg");
  naming.assign(second);
  EXPECT_EQ(second.outputs, std::vector{at("out/a.jpg.png")});
  naming.use_names_of_earlier_run(second);
  EXPECT_EQ(second.outputs, std::vector{at("out/a.png")});
  EXPECT_FALSE(second.outputs_are_free);
}

TEST_F(OutputNamingTest, does_not_use_the_name_of_an_output_of_another_input) {
  make_output("a.jpg", "a.png");
  OutputNaming& naming = start_run();
  EXPECT_EQ(assigned("a.jpg"), "a.png");
  pipeline::WorkItem second = item("a.png");
  naming.assign(second);
  naming.use_names_of_earlier_run(second);
  EXPECT_EQ(second.outputs, std::vector{at("out/a.png.png")});
}

TEST_F(OutputNamingTest, changes_to_the_full_name_once) {
  OutputNaming& naming = start_run();
  pipeline::WorkItem image = item("a.png");
  naming.assign(image);
  EXPECT_TRUE(image.outputs_are_free);
  EXPECT_TRUE(naming.use_full_names(image));
  EXPECT_EQ(image.outputs, std::vector{at("out/a.png.png")});
  EXPECT_FALSE(image.outputs_are_free);
  EXPECT_FALSE(naming.use_full_names(image));
}

TEST_F(OutputNamingTest, leaves_the_usual_name_to_the_outputs_of_a_folder) {
  write("in/b.jpg");
  fs::create_directory(at("in/b.png"));
  start_run_without_ledger();
  EXPECT_EQ(assigned("b.jpg"), "b.jpg.png");
}

TEST_F(OutputNamingTest, takes_outputs_for_free_only_if_no_file_can_be_there) {
  write("out/a.png");
  OutputNaming& run = start_run_without_ledger();
  pipeline::WorkItem existing = item("a.png"), missing = item("c.png");
  run.assign(existing);
  run.assign(missing);
  EXPECT_FALSE(existing.outputs_are_free);
  EXPECT_TRUE(missing.outputs_are_free);
  pipeline::WorkItem watched = item("d.png");
  start_run(/*is_watch=*/true).assign(watched);
  EXPECT_FALSE(watched.outputs_are_free) << "its output may have been made since the listing";
}

}  // namespace
}  // namespace eckart::app
