// Tests which outputs of other settings a service names when it starts.
#include "app/settings_mismatch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "app/ledger_choice.hpp"
#include "app/output_settings.hpp"
#include "ledger/ledger.hpp"
#include "tests/support/temp_folder.hpp"

namespace eckart::app {
namespace {

using testing::HasSubstr;

class SettingsMismatchTest : public testing::Test {
 protected:
  SettingsMismatchTest() {
    watch_.input = folder_.path() / "in";
    watch_.output = folder_.path() / "out";
    watch_.settings.ranks = {{5}};
    watch_.settings.output.factors = FactorType::float32;
    std::filesystem::create_directories(watch_.output / ".eckart");
  }

  /// Records what the watch, with its settings of now, would make of in/a.jpg.
  void record_outputs() {
    const std::vector<std::string> texts = output_settings(watch_.settings);
    const auto outputs = make_output_tree(watch_.settings, watch_.output)->outputs_of("a.jpg");
    ASSERT_EQ(texts.size(), outputs.size());
    ledger::LedgerChanges changes;
    for (std::size_t i = 0; i < texts.size(); ++i)
      changes.done.push_back({.output = outputs[i].lexically_relative(watch_.output),
                              .input = watch_.input / "a.jpg",
                              .settings = ledger::settings_hash(texts[i]),
                              .state = {}});
    ledger::Ledger ledger(ledger_file(watch_.output, watch_.settings.ledger));
    ledger.record_settings(texts);
    ledger.record(changes);
  }
  std::string warning() const { return ledger_warning(watch_); }

  const test::TempFolder folder_;
  settings::WatchSettings watch_;
};

/// Their names have no rank, but those of the images have.
TEST_F(SettingsMismatchTest, counts_factors_of_a_changed_rank) {
  watch_.settings.output.name = "{stem}.{label}.{ext}";
  record_outputs();
  EXPECT_EQ(warning(), "");
  watch_.settings.ranks = {{20}};
  EXPECT_THAT(warning(), HasSubstr("1 output made with other settings (rank 5 -> 20)"));
}

TEST_F(SettingsMismatchTest, ignores_outputs_of_another_name) {
  record_outputs();  // a.png and a.npz
  watch_.settings.ranks = {{20}};
  EXPECT_THAT(warning(), HasSubstr("2 outputs made with other settings (rank 5 -> 20)"));
  watch_.settings.output.name = "{stem}-low.{ext}";
  EXPECT_EQ(warning(), "");
  watch_.settings.output.name = "{stem}.{label}.{ext}";
  EXPECT_EQ(warning(), "") << "a.k20.png and a.factors.npz";
  watch_.settings.output.name = "{stem}.png";
  EXPECT_THAT(warning(), HasSubstr("1 output made with")) << "a.png, and not a.png.npz";
}

TEST_F(SettingsMismatchTest, ignores_outputs_of_inputs_of_another_folder) {
  record_outputs();
  watch_.settings.ranks = {{20}};
  watch_.input = folder_.path() / "other";
  EXPECT_EQ(warning(), "");
}

TEST_F(SettingsMismatchTest, says_that_the_ledger_cannot_be_read_whatever_happens_to_inputs) {
  record_outputs();
  const auto file = ledger_file(watch_.output, watch_.settings.ledger);
  std::ofstream(file) << std::string(8192, 'x');
  EXPECT_THAT(warning(), HasSubstr("the ledger cannot be read: "));
  watch_.after = settings::DoneInputAction::remove;
  EXPECT_THAT(warning(), HasSubstr("the ledger cannot be read: "));
}

TEST_F(SettingsMismatchTest, says_what_will_become_of_the_outputs) {
  watch_.location = "eckart.yaml:2: watches[1]";
  record_outputs();
  watch_.settings.ranks = {{20}};
  const std::string prefix = "eckart.yaml:2: watches[1]: " + watch_.output.native() +
                             ": 2 outputs made with other settings (rank 5 -> 20): ";
  EXPECT_EQ(warning(), prefix +
                           "they are kept (on_change: keep; set on_change: reprocess to "
                           "reprocess them)");
  watch_.on_change = settings::OnChange::reprocess;
  EXPECT_EQ(warning(), prefix +
                           "they will be reprocessed if the input still exists (on_change: "
                           "reprocess)");
  watch_.after = settings::DoneInputAction::remove;
  EXPECT_EQ(warning(), prefix + "they are kept, because their inputs are gone (after: delete)");
}

TEST(SettingsMismatch, counts_each_difference) {
  SettingsMismatch mismatch;
  EXPECT_EQ(mismatch.count(), 0);
  mismatch.counts_by_difference = {{"rank 5 -> 7", 1}};
  EXPECT_EQ(mismatch.describe(), "1 output made with other settings (rank 5 -> 7)");
  mismatch.counts_by_difference = {{"rank 5 -> 7", 1200}, {"color", 3}};
  EXPECT_EQ(mismatch.count(), 1203);
  EXPECT_EQ(mismatch.describe(),
            "1,203 outputs made with other settings (color (3); rank 5 -> 7 (1,200))");
}

}  // namespace
}  // namespace eckart::app
