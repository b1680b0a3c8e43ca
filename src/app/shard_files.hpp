#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "io/manifest.hpp"

// What processes of shards publish in the output folder, below .eckart/shards.
namespace eckart::app {

/// A shard of a manifest.
struct ShardId {
  std::string manifest;    ///< io::Manifest::id
  std::int64_t index = 0;  ///< from 1 on
};

/// Numbers of the images of a shard.
struct ShardCounts {
  std::int64_t done = 0, failed = 0;
};

/// How the archive of a shard was made.
struct PackedRecord {
  ShardCounts counts;
  std::string settings;  ///< a hash of them
};

/// How much of a manifest is done in an output folder.
struct ManifestProgress {
  std::string manifest;  ///< io::Manifest::id
  std::int64_t shards = 0, images = 0;
  std::int64_t finished_shards = 0;  ///< with a mark
};
/// Of all manifests that publish_manifest() was called for, by their ids. Throws EnvironmentError.
std::vector<ManifestProgress> manifests_in(const std::filesystem::path& output);

/// Makes the folder of a manifest, shards_folder() / ID, and writes its numbers of shards and
/// images to manifest.json there. Throws FatalError, EnvironmentError.
void publish_manifest(const std::filesystem::path& output, const io::Manifest& manifest);

/// Removes the marks of finished shards because they are processed again. Throws EnvironmentError.
void forget_finished_shards(const std::filesystem::path& output, const std::string& manifest);

/// The mark of a finished shard, OUT/.eckart/shards/ID/I.json, which may not exist.
std::filesystem::path mark_of(const std::filesystem::path& output, const ShardId& shard);
/// Writes the mark, durably. Throws FatalError(io_error), EnvironmentError.
void publish_mark(const std::filesystem::path& output, const ShardId& shard,
                  const ShardCounts& counts);

/// The record of a shard whose outputs are in an archive, OUT/.eckart/shards/ID/I.packed. It stays
/// when the marks are removed.
std::filesystem::path packed_record_of(const std::filesystem::path& output, const ShardId& shard);
/// Writes the record, durably. Throws FatalError(io_error), EnvironmentError.
void publish_packed_record(const std::filesystem::path& output, const ShardId& shard,
                           const PackedRecord& record);
/// Returns nullopt if there is none that can be read.
std::optional<PackedRecord> read_packed_record(const std::filesystem::path& output,
                                               const ShardId& shard);

/// OUT/.eckart/shards: the files of all shards, in a folder for each manifest.
std::filesystem::path shards_folder(const std::filesystem::path& output);

/// A file that only this process writes for a shard: OUT/.eckart/shards/ID/I.TOKEN and `suffix`.
std::filesystem::path shard_file_of_process(const std::filesystem::path& output,
                                            const ShardId& shard, const std::string& suffix);
inline constexpr const char* kShardLedgerSuffix = ".db";
inline constexpr const char* kShardThroughputLogSuffix = ".throughput.jsonl";

/// The published ledgers of a shard, OUT/.eckart/shards/ID/I.TOKEN.db: one for each process that
/// has worked on it. Empty if there is none. Throws EnvironmentError.
std::vector<std::filesystem::path> shard_ledgers(const std::filesystem::path& output,
                                                 const ShardId& shard);

/// The throughput logs of all processes that worked on shards, OUT/.eckart/shards/ID/
/// I.TOKEN.throughput.jsonl and its rotated files. Empty if there is none. Throws EnvironmentError.
std::vector<std::filesystem::path> shard_throughput_logs(const std::filesystem::path& output);

/// The published ledgers of all shards, by manifest. Empty if there is none: then the ledger of the
/// folder has all records. Throws EnvironmentError.
std::vector<std::filesystem::path> shard_ledgers(const std::filesystem::path& output);

/// What the paths of files of `eckart worker` in the output folder begin with, before the token of
/// its ledger: OUT/.eckart/shards/workers/1. Their ledgers are among those of all shards.
std::string worker_file_prefix(const std::filesystem::path& output);

/// Throws FatalError(usage) if the ledger of the folder does not have the records of shards: then
/// its outputs would be made again, or count as files of somebody else.
void check_merged(const std::filesystem::path& output);

/// Notes in the output folder that shards are processed with these settings, one text for each
/// output. Call it before the first output is published. If `makes_newest`, they become the newest
/// of the folder again. Throws FatalError, EnvironmentError.
void note_settings(const std::filesystem::path& output, const std::vector<std::string>& settings,
                   bool makes_newest = false);
/// All settings that were noted, the newest last. Throws EnvironmentError.
std::vector<std::vector<std::string>> noted_settings(const std::filesystem::path& output);
/// Whether no other settings were noted after these. Throws EnvironmentError.
bool are_newest_settings(const std::filesystem::path& output,
                         const std::vector<std::string>& settings);
/// Whether note_settings() was called with one text only. Throws EnvironmentError.
bool have_shards_one_setting(const std::filesystem::path& output);

}  // namespace eckart::app
