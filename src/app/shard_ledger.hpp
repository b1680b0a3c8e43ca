#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "app/shard_files.hpp"
#include "app/shard_results.hpp"
#include "io/scratch_folder.hpp"
#include "ledger/ledger.hpp"
#include "settings/choices.hpp"

namespace eckart::app {

/// Makes the ledger of a shard find what the ledger of the folder has, as it is while only shards
/// are processed.
void use_folder_ledger(ledger::Ledger& shard, const std::filesystem::path& output);

/// Counts the inputs of a published ledger, from a local copy. Throws FatalError, EnvironmentError,
/// ItemError.
ledger::InputCounts count_published_inputs(const std::filesystem::path& ledger);

/// Writes the records of a ledger for the outputs in `from_folder` to a new ledger, for outputs
/// below `to_folder`. Both have absolute names. Throws FatalError, EnvironmentError.
void move_records(const std::filesystem::path& from, const std::filesystem::path& to,
                  const std::filesystem::path& from_folder, const std::filesystem::path& to_folder);

/// Publishes the ledger of a shard instead of those that other processes have published for it.
/// Returns the numbers of its images. Throws FatalError, EnvironmentError.
ShardCounts publish_only_ledger(const std::filesystem::path& output, const ShardId& shard,
                                const std::filesystem::path& ledger);

/// Publishes copies of a local ledger in an output folder, which may be on a network share.
class LedgerPublisher {
 public:
  /// How often copies are published. What a killed process did since is in no published copy.
  static constexpr std::chrono::seconds kInterval{60};

  /// `file`: the ledger, on a local disk. `published`: its copy, which is replaced.
  LedgerPublisher(std::filesystem::path file, std::filesystem::path published);
  ~LedgerPublisher();
  /// Publishes a copy every kInterval until publish(), on a thread of its own. An error is logged
  /// once; the next copy has all records.
  void begin();
  /// Publishes the last copy, durably. Throws FatalError, EnvironmentError.
  void publish();

 private:
  void publish_copy();
  void end();

  const std::filesystem::path file_, published_;
  std::mutex mutex_;
  std::condition_variable_any stopped_;
  std::jthread thread_;
};

/// The ledger of a process that works on a shard. SQLite needs locks and syncs that a network file
/// system may lack, so the ledger is on a local disk, and copies of it are published in the output
/// folder. Each process replaces only its own copy, so that two that work on the same shard lose
/// nothing.
class ShardLedger : public ShardResults {
 public:
  /// Makes a local ledger with the records of all published ones of this shard. One that cannot be
  /// read is left out, with a warning: its outputs are compared with what this process makes.
  /// Throws FatalError, EnvironmentError.
  ShardLedger(const std::filesystem::path& output, ShardId shard);
  /// The local file, as the setting ledger.file.
  settings::FileChoice choice() const { return settings::FileChoice::at(file_); }
  /// Publishes copies until publish() or finish(). What a killed process did after the last copy is
  /// not recorded: the next one makes these outputs again, and compares.
  void begin() override;
  /// Publishes the last copy.
  void publish() override { publisher_.publish(); }
  /// Also removes the copies of other processes, whose records it has.
  void finish() override;

 private:
  void merge(const std::filesystem::path& published);

  const std::filesystem::path output_;
  const ShardId shard_;
  const io::ScratchFolder local_;
  const std::filesystem::path file_ = local_.path() / "ledger.db";
  std::vector<std::filesystem::path> merged_;
  LedgerPublisher publisher_;
};

/// The records of the own ledger of an output folder and of its shards since the last merge, in a
/// local ledger.
class MergedLedger {
 public:
  /// Returns null if the own ledger has all records. A ledger that cannot be read is left
  /// out, with a warning. Throws FatalError, EnvironmentError.
  static std::unique_ptr<MergedLedger> of(const std::filesystem::path& output);
  /// The same, and one without records if the folder has only manifests: no shard has published
  /// anything yet.
  static std::unique_ptr<MergedLedger> for_status(const std::filesystem::path& output);
  /// The local file, as the setting ledger.file.
  settings::FileChoice choice() const { return settings::FileChoice::at(file_); }
  /// Removes the ledgers of shards whose records it has. Those that were left out stay.
  void remove_sources();

 private:
  explicit MergedLedger(const std::filesystem::path& output);

  const io::ScratchFolder local_;
  const std::filesystem::path file_ = local_.path() / "ledger.db";
  std::vector<std::filesystem::path> merged_;  // ledgers of shards
};

}  // namespace eckart::app
