#include "ledger/ledger.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <utility>

#include "core/instant.hpp"
#include "ledger/ledger_connection.hpp"
#include "ledger/ledger_tables.hpp"

namespace eckart::ledger {
namespace {

namespace fs = std::filesystem;

// A power cut loses at most the records of this interval; their images are then processed again.
constexpr auto kSyncInterval = std::chrono::seconds(1);

constexpr int kMaxTransactionsInARow = 16;  // by one thread, for others

}  // namespace

Ledger::Ledger(const fs::path& file, const LedgerOptions& options)
    : is_durable_(options.durable),
      connection_(std::make_unique<LedgerConnection>(file, options)) {}

Ledger::Ledger(std::unique_ptr<LedgerConnection> connection)
    : is_durable_(false), connection_(std::move(connection)) {}

Ledger::~Ledger() = default;

std::unique_ptr<Ledger> Ledger::open_read_only(const fs::path& file) {
  auto connection = LedgerConnection::open_read_only(file);
  return connection ? std::unique_ptr<Ledger>(new Ledger(std::move(connection))) : nullptr;
}

std::unique_ptr<Ledger> Ledger::open_unchanging(const fs::path& file) {
  auto connection = LedgerConnection::open_unchanging(file);
  return connection ? std::unique_ptr<Ledger>(new Ledger(std::move(connection))) : nullptr;
}

void Ledger::use_earlier(std::unique_ptr<Ledger> earlier, std::string prefix) {
  earlier_ = std::move(earlier);
  earlier_prefix_ = std::move(prefix);
}

bool Ledger::is_read_only() const { return connection_->is_read_only(); }

std::int64_t Ledger::run() const { return connection_->run_number(); }

void Ledger::check_not_replaced() const { connection_->check_not_replaced(); }

/// Returns query(LedgerTables).
template <class Query>
auto Ledger::read(const Query& query) {
  return connection_->with_tables(
      [&](const LedgerTables& tables, const LedgerRun&) { return query(tables); });
}

/// Runs write(LedgerTables, LedgerRun) in a transaction.
template <class Write>
void Ledger::transaction(bool sync, const Write& write) {
  connection_->with_tables([&](LedgerTables& tables, const LedgerRun& run) {
    transaction(tables, sync, [&] { write(tables, run); });
  });
}

/// Runs write() in a transaction.
template <class Write>
void Ledger::transaction(LedgerTables& tables, bool sync, const Write& write) {
  const auto now = Clock::now();
  const bool sync_now = sync || (is_durable_ && now - last_sync_ >= kSyncInterval);
  tables.transaction(sync_now, write);
  if (sync_now) last_sync_ = now;
}

std::optional<OutputEntry> Ledger::find(const std::string& output) {
  std::optional<OutputEntry> found =
      read([&](const LedgerTables& tables) { return tables.find(output); });
  if (found || !earlier_ || !output.starts_with(earlier_prefix_)) return found;
  found = earlier_->find(output.substr(earlier_prefix_.size()));
  if (found) found->output = output;
  return found;
}

std::optional<OutputEntry> Ledger::find_intent(const PublishIntent& intent) {
  return read([&](const LedgerTables& tables) { return tables.intents().find(intent); });
}

std::vector<OutputEntry> Ledger::intents(const std::string& output) {
  return read([&](const LedgerTables& tables) { return tables.intents().find_all(output); });
}

std::vector<OutputEntry> Ledger::intents() {
  return read([](const LedgerTables& tables) { return tables.intents().all(); });
}

std::optional<FailureEntry> Ledger::find_failure(const std::string& input) {
  return read([&](const LedgerTables& tables) { return tables.find_failure(input); });
}

void Ledger::record(const LedgerChanges& changes) {
  if (changes.done.empty() && changes.failed.empty() && changes.cleared.empty() &&
      changes.input_updates.empty() && changes.outputs_without_input.empty() &&
      changes.intents.empty() && changes.abandoned_intents.empty())
    return;
  RecordCall call{PreparedChanges(changes)};
  bool must_wait = false;
  {
    const std::lock_guard lock(calls_mutex_);
    waiting_calls_.push_back(&call);
    must_wait = std::exchange(is_recording_, true);
  }
  if (must_wait) call.woken.acquire();
  if (!call.is_finished) record_waiting_calls(call);
  for (RecordCall* follower : call.followers) {
    if (follower) follower->woken.release();
  }
  if (call.error) std::rethrow_exception(call.error);
}

/// Records the call of this thread and the others that wait, in one transaction, and goes on with
/// those that have come since: to wake another thread for them takes longer. After a few
/// transactions one of them takes over.
void Ledger::record_waiting_calls(const RecordCall& own) {
  for (int transactions = 0;; ++transactions) {
    std::vector<RecordCall*> calls;
    {
      const std::lock_guard lock(calls_mutex_);
      if (waiting_calls_.empty()) {
        is_recording_ = false;
        return;
      }
      if (transactions == kMaxTransactionsInARow) {
        waiting_calls_.front()->woken.release();
        return;
      }
      calls.swap(waiting_calls_);
    }
    std::exception_ptr error;
    try {
      record(calls);
    } catch (...) {
      error = std::current_exception();
    }
    for (RecordCall* call : calls) {
      call->is_finished = true;
      call->error = error;
    }
    std::erase(calls, &own);
    wake(calls);
  }
}

/// Wakes the thread of the first call, and each thread wakes two others, so that the thread that
/// records goes on at once. A thread that was woken may destroy its call.
void Ledger::wake(std::span<RecordCall* const> finished) {
  if (finished.empty()) return;
  for (std::size_t i = 1; i < finished.size(); ++i)
    finished[(i - 1) / 2]->followers[(i - 1) % 2] = finished[i];
  finished.front()->woken.release();
}

/// Records the changes in the order of the calls.
void Ledger::record(std::span<RecordCall* const> calls) {
  const bool sync = std::ranges::any_of(
      calls, [](const RecordCall* call) { return call->prepared.changes.sync; });
  transaction(sync && is_durable_, [&](LedgerTables& tables, const LedgerRun& run) {
    for (const RecordCall* call : calls) tables.record(call->prepared, run.number);
  });
}

void Ledger::record_suspects(std::span<const Suspect> suspects) {
  transaction(true, [&](LedgerTables& tables, const LedgerRun&) {
    for (const Suspect& suspect : suspects) tables.record(suspect);
  });
}

std::vector<std::string> Ledger::roots() {
  return read([](const LedgerTables& tables) { return tables.roots(); });
}

std::vector<Suspect> Ledger::suspects() {
  return read([](const LedgerTables& tables) { return tables.suspects(); });
}

void Ledger::clear_suspects() {
  transaction(false, [](LedgerTables& tables, const LedgerRun&) { tables.clear_suspects(); });
}

void Ledger::record_request(const RequestEntry& request) {
  connection_->with_tables([&](LedgerTables& tables, LedgerRun& current) {
    std::int64_t number = 0;
    transaction(tables, true, [&] {
      number = tables.run() + 1;  // other processes that share the ledger may have begun runs
      tables.record(request, number);
    });
    current = {number, request};
  });
}

void Ledger::continue_run(const RequestEntry& request, std::int64_t run) {
  connection_->with_tables([&](LedgerTables& tables, LedgerRun& current) {
    current = {run, request};
    transaction(tables, true, [&] {
      // The ledger is new if the ledger of the run was damaged.
      if (tables.run() < run) tables.record(request, run);
    });
  });
}

std::optional<RequestEntry> Ledger::request() {
  return read([](const LedgerTables& tables) { return tables.request(); });
}

InputCounts Ledger::count_inputs() {
  return read([](const LedgerTables& tables) { return tables.count_inputs(); });
}

std::vector<SettingsCount> Ledger::count_by_settings() {
  std::vector<SettingsCount> counts =
      read([](const LedgerTables& tables) { return tables.count_by_settings(); });
  if (earlier_) std::ranges::copy(earlier_->count_by_settings(), std::back_inserter(counts));
  return counts;
}

std::string Ledger::settings_text(std::uint64_t hash) {
  std::string text = read([&](const LedgerTables& tables) { return tables.settings_text(hash); });
  return text.empty() && earlier_ ? earlier_->settings_text(hash) : text;
}

std::vector<FailureEntry> Ledger::failures(int limit) {
  return read([&](const LedgerTables& tables) { return tables.failures(limit); });
}

std::vector<OutputEntry> Ledger::entries_after(const std::string& output, int limit) {
  return read([&](const LedgerTables& tables) { return tables.entries_after(output, limit); });
}

void Ledger::rename_outputs(std::size_t removed, const std::string& prefix) {
  transaction(false, [&](const LedgerTables& tables, const LedgerRun&) {
    tables.rename_outputs(removed, prefix);
  });
}

void Ledger::copy_to(const std::filesystem::path& file) {
  read([&](const LedgerTables& tables) { tables.copy_to(file); });
}

std::vector<std::string> Ledger::settings_texts() {
  std::vector<std::string> texts =
      read([](const LedgerTables& tables) { return tables.settings_texts(); });
  if (earlier_) std::ranges::copy(earlier_->settings_texts(), std::back_inserter(texts));
  return texts;
}

void Ledger::record_settings(const std::vector<std::string>& texts) {
  transaction(false,
              [&](const LedgerTables& tables, const LedgerRun&) { tables.record_settings(texts); });
}

std::vector<std::string> Ledger::outputs_after(const std::string& output, int limit) {
  return read([&](const LedgerTables& tables) { return tables.outputs_after(output, limit); });
}

void Ledger::remove_outputs(const std::function<std::vector<std::string>()>& find_removed) {
  connection_->with_tables([&](LedgerTables& tables, const LedgerRun&) {
    const std::vector<std::string> outputs = find_removed();
    if (outputs.empty()) return;
    tables.transaction(false, [&] {
      for (const std::string& output : outputs) tables.remove_output(output);
    });
  });
}

}  // namespace eckart::ledger
