#include "app/ledger_copy.hpp"

#include <sys/stat.h>

#include <limits>
#include <utility>

#include "app/job.hpp"
#include "io/file.hpp"

namespace eckart::app {

void read_all(const std::filesystem::path& folder, const std::string& setting,
              const LedgerVisitor& visitor) {
  const auto ledger = read_ledger(folder, setting);
  for (const std::string& text : ledger->settings_texts()) visitor.settings(text);
  KnownOutputs(*ledger, folder, setting).each(visitor.output);
  for (const ledger::Failure& failure : ledger->failed(std::numeric_limits<int>::max()))
    visitor.failure(failure);
}

namespace {

/// What was mended since may be done; what is gone has nothing to fail any more.
bool is_as_it_failed(const ledger::Failure& failure) {
  struct stat status {};
  if (::stat(failure.input.c_str(), &status) != 0) return false;
  const FileState state = io::state_of(status);
  return state.size == failure.state.size && state.mtime_ns == failure.state.mtime_ns;
}

}  // namespace

LedgerImport::LedgerImport(const std::filesystem::path& folder, const std::string& setting)
    : lock_(folder),
      ledger_(ledger_file(folder, setting)),
      known_(ledger_, folder, setting),
      folder_(open_folder(folder)) {}

void LedgerImport::add(ledger::Entry entry) {
  constexpr std::size_t kAtOnce = 1000;
  const FileBelow file(folder_, entry.output);
  if (!file.is_as_recorded(entry.bytes, 0)) {
    ++counts_.not_there;
    return;
  }
  entry.output = known_.ledger_name(entry.output);
  const auto known = ledger_.find(entry.output);
  if (known && known->bytes == entry.bytes) {
    ++counts_.known;
    return;
  }
  ++counts_.outputs;
  changes_.done.push_back(std::move(entry));
  if (changes_.done.size() >= kAtOnce) flush();
}

void LedgerImport::add(ledger::Failure failure) {
  if (!is_as_it_failed(failure) || ledger_.find_failure(failure.input)) return;
  ++counts_.failures;
  changes_.failed.push_back(std::move(failure));
}

ImportCounts LedgerImport::finish() {
  flush();
  return counts_;
}

void LedgerImport::flush() {
  if (!texts_.empty()) ledger_.record_settings(std::exchange(texts_, {}));
  ledger_.record(std::exchange(changes_, {}));
}

}  // namespace eckart::app
