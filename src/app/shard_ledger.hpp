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

#include "io/manifest.hpp"
#include "io/scratch_folder.hpp"
#include "ledger/ledger.hpp"
#include "settings/choices.hpp"

namespace eckart::app {

/// A shard of a manifest.
struct ShardId {
  std::string manifest;    ///< io::Manifest::id
  std::int64_t index = 0;  ///< from 1 on
};

/// How much of a manifest is done in an output folder.
struct ManifestProgress {
  std::string manifest;  ///< io::Manifest::id
  std::int64_t shards = 0, images = 0;
  std::int64_t finished_shards = 0;  ///< see ShardLedger::finish()
};
/// Of all manifests that publish_manifest() was called for, by their ids. Throws EnvironmentError.
std::vector<ManifestProgress> manifests_in(const std::filesystem::path& output);

/// Makes the folder of a manifest, shards_folder() / ID, and writes its numbers of shards and
/// images to manifest.json there. Throws FatalError, EnvironmentError.
void publish_manifest(const std::filesystem::path& output, const io::Manifest& manifest);

/// Removes the marks of finished shards, OUT/.eckart/shards/ID/I.json, because they are processed
/// again. Throws EnvironmentError.
void forget_finished_shards(const std::filesystem::path& output, const std::string& manifest);

/// OUT/.eckart/shards: the files of all shards, in a folder for each manifest.
std::filesystem::path shards_folder(const std::filesystem::path& output);

/// The published ledgers of a shard, OUT/.eckart/shards/ID/I.TOKEN.db: one for each process that
/// has worked on it. Empty if there is none. Throws EnvironmentError.
std::vector<std::filesystem::path> shard_ledgers(const std::filesystem::path& output,
                                                 const ShardId& shard);

/// The throughput logs of all processes that worked on shards, OUT/.eckart/shards/ID/
/// I.TOKEN.throughput.jsonl and its rotated files. Empty if there is none. Throws EnvironmentError.
std::vector<std::filesystem::path> shard_throughput_logs(const std::filesystem::path& output);

/// Throws FatalError(usage) if the ledger of the folder does not have the records of shards: then
/// its outputs would be made again, or count as files of somebody else.
void check_merged(const std::filesystem::path& output);

/// Removes the published ledgers of all shards, whose records are in the ledger of the folder.
void remove_shard_ledgers(const std::filesystem::path& output);

/// Makes the ledger of a shard find what the ledger of the folder has, as it is while only shards
/// are processed.
void use_folder_ledger(ledger::Ledger& shard, const std::filesystem::path& output);

/// Notes in the output folder that shards are processed with these settings, one text for each
/// output. Call it before the first output is published. Throws FatalError, EnvironmentError.
void note_settings(const std::filesystem::path& output, const std::vector<std::string>& settings);
/// Whether note_settings() was called with one text only. Throws EnvironmentError.
bool have_shards_one_setting(const std::filesystem::path& output);

/// Counts the inputs of a published ledger, from a local copy. Throws FatalError, EnvironmentError,
/// ItemError.
ledger::InputCounts count_published_inputs(const std::filesystem::path& ledger);

/// The ledger of a process that works on a shard. SQLite needs locks and syncs that a network file
/// system may lack, so the ledger is on a local disk, and copies of it are published in the output
/// folder. Each process replaces only its own copy, so that two that work on the same shard lose
/// nothing.
class ShardLedger {
 public:
  /// How often copies are published. What a killed process did since is not recorded: the
  /// next one makes these outputs again, and compares.
  static constexpr std::chrono::seconds kPublishInterval{60};

  /// Makes a local ledger with the records of all published ones of this shard. One that cannot be
  /// read is left out, with a warning: its outputs are compared with what this process makes.
  /// Throws FatalError, EnvironmentError.
  ShardLedger(const std::filesystem::path& output, ShardId shard);
  ~ShardLedger();
  /// The local file, as the setting ledger.file.
  settings::FileChoice choice() const { return settings::FileChoice::at(file_); }
  /// The prefix of the paths of files that this process may publish for the shard: FOLDER/I.TOKEN.
  const std::string& published_prefix() const { return published_prefix_; }
  /// Call it when the shard begins, after manifest and settings are checked: removes the mark of an
  /// earlier finish(). Publishes a copy every kPublishInterval until publish() or finish(), on a
  /// thread of its own.
  /// An error is logged once; the next copy has all records.
  void begin();
  /// Publishes the last copy, durably. Throws FatalError, EnvironmentError.
  void publish();
  /// The same for a shard whose images were all processed. Removes the copies of other processes,
  /// whose records it has, and writes the number of images that are done and that failed to
  /// FOLDER/I.json.
  void finish();

 private:
  void publish_copy();
  void stop_publishing();
  std::filesystem::path finished_file() const;  ///< see finish()
  void merge(const std::filesystem::path& published);

  const std::filesystem::path folder_;  // of the published ledgers
  const ShardId shard_;
  const io::ScratchFolder local_;
  const std::filesystem::path file_ = local_.path() / "ledger.db";
  const std::string published_prefix_;
  std::vector<std::filesystem::path> merged_;
  std::mutex mutex_;
  std::condition_variable_any stopped_;
  std::jthread publisher_;
};

/// The records of the own ledger of an output folder and of its shards since the last merge, in a
/// local ledger.
class MergedLedger {
 public:
  /// Returns null if the own ledger has all records. A ledger that cannot be read is left
  /// out, with a warning. Throws FatalError, EnvironmentError.
  static std::unique_ptr<MergedLedger> of(const std::filesystem::path& output);
  /// The local file, as the setting ledger.file.
  settings::FileChoice choice() const { return settings::FileChoice::at(file_); }

 private:
  explicit MergedLedger(const std::filesystem::path& output);

  const io::ScratchFolder local_;
  const std::filesystem::path file_ = local_.path() / "ledger.db";
};

}  // namespace eckart::app
