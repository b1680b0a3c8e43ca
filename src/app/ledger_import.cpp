#include "app/ledger_import.hpp"

#include <limits>
#include <utility>

#include "app/ledger_choice.hpp"
#include "core/error.hpp"
#include "io/open_archive.hpp"
#include "io/read_file.hpp"

namespace eckart::app {

void visit_ledger(const std::filesystem::path& folder, const settings::FileChoice& choice,
                  const LedgerVisitor& visitor) {
  const auto ledger = open_existing_ledger(folder, choice);
  for (const std::string& text : ledger->settings_texts()) visitor.settings(text);
  LedgerOutputs(*ledger, folder, choice).for_each(visitor.output);
  for (const ledger::FailureEntry& failure : ledger->failures(std::numeric_limits<int>::max()))
    visitor.failure(failure);
}

namespace {

/// A changed file may be done by now. A missing file can no longer fail.
bool is_unchanged_since_failure(const ledger::FailureEntry& failure) {
  try {
    const files::FileState state = io::state_of(std::filesystem::path(failure.input));
    return state.size == failure.state.size && state.mtime_ns == failure.state.mtime_ns;
  } catch (const ItemError&) {
    return false;
  }
}

}  // namespace

LedgerImport::LedgerImport(const std::filesystem::path& folder, const settings::FileChoice& choice)
    : path_(folder),
      lock_(folder),
      ledger_(ledger_file(folder, choice), logged_ledger_options()),
      ledger_outputs_(ledger_, folder, choice),
      folder_(open_folder(folder)) {}

void LedgerImport::add(ledger::OutputEntry entry) {
  constexpr std::size_t kMaxUnflushed = 1000;
  const ContainedFile file(folder_, entry.output);
  if (!file.matches_record(entry.bytes, 0) && !is_in_archive(entry)) {
    ++counts_.missing;
    return;
  }
  entry.output = ledger_outputs_.ledger_key(entry.output);
  const auto known = ledger_.find(entry.output);
  if (known && known->bytes == entry.bytes) {
    ++counts_.already_known;
    return;
  }
  ++counts_.outputs;
  changes_.done.push_back(std::move(entry));
  if (changes_.done.size() >= kMaxUnflushed) flush();
}

/// Whether the output is a member, with the recorded size, of an archive in the folder.
bool LedgerImport::is_in_archive(const ledger::OutputEntry& entry) const {
  const auto member = io::parse_member_path(path_ / entry.output);
  if (!member || ContainedFile(folder_, member->archive.lexically_relative(path_)).is_missing())
    return false;
  try {
    return io::open_member(*member).member->size == entry.bytes;
  } catch (const ItemError&) {
    return false;
  }
}

void LedgerImport::add(ledger::FailureEntry failure) {
  if (!is_unchanged_since_failure(failure) || ledger_.find_failure(failure.input)) return;
  ++counts_.failures;
  changes_.failed.push_back(std::move(failure));
}

ImportCounts LedgerImport::finish() {
  flush();
  return counts_;
}

void LedgerImport::flush() {
  if (!settings_texts_.empty()) ledger_.record_settings(std::exchange(settings_texts_, {}));
  ledger_.record(std::exchange(changes_, {}));
}

}  // namespace eckart::app
