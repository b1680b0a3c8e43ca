#include "app/ledger_report.hpp"

#include <limits>
#include <memory>
#include <optional>

#include "app/ledger_outputs.hpp"

namespace eckart::app {

void add_ledger_records(reports::ImageReport& report, const std::filesystem::path& output,
                        const settings::FileChoice& ledger) {
  const std::unique_ptr<ledger::Ledger> opened = open_existing_ledger(output, ledger);
  LedgerOutputs(*opened, output, ledger).for_each([&](const ledger::OutputEntry& entry) {
    report.add_recorded(entry.input, output / entry.output, ItemResult::done, entry.report);
  });
  for (const ledger::FailureEntry& failure : opened->failures(std::numeric_limits<int>::max()))
    report.add_failure(failure.input, failure.reason, std::nullopt, failure.detail);
}

}  // namespace eckart::app
