// Tests which outputs of other settings a service names when it starts.
#include "app/settings_mismatch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "app/ledger_choice.hpp"
#include "app/output_settings.hpp"
#include "ledger/ledger.hpp"
#include "tests/support/temp_folder.hpp"

namespace eckart::app {
namespace {

/// Their names have no rank, but those of the images have.
TEST(SettingsMismatch, counts_factors_of_a_changed_rank) {
  const test::TempFolder folder;
  settings::WatchSettings watch;
  watch.input = folder.path() / "in";
  watch.output = folder.path() / "out";
  watch.settings.output.name = "{stem}.{label}.{ext}";
  watch.settings.output.factors = FactorType::float32;
  watch.settings.ranks = {{5}};
  std::filesystem::create_directories(watch.output / ".eckart");
  const std::vector<std::string> texts = output_settings(watch.settings);
  ledger::LedgerChanges changes;
  for (std::size_t i = 0; i < texts.size(); ++i)
    changes.done.push_back({.output = std::to_string(i),
                            .input = "/in/a.png",
                            .settings = ledger::settings_hash(texts[i]),
                            .state = {}});
  {
    ledger::Ledger ledger(ledger_file(watch.output, watch.settings.ledger));
    ledger.record_settings(texts);
    ledger.record(changes);
  }
  EXPECT_EQ(settings_mismatch_warning(watch), "");
  watch.settings.ranks = {{20}};
  EXPECT_THAT(settings_mismatch_warning(watch),
              testing::HasSubstr("1 output made with other settings (rank 5 -> 20)"));
}

}  // namespace
}  // namespace eckart::app
