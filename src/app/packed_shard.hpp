#pragma once

#include <filesystem>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "app/input_sources.hpp"
#include "app/shard_files.hpp"
#include "app/shard_results.hpp"
#include "io/scratch_folder.hpp"
#include "settings/settings.hpp"

namespace eckart::app {

/// A shard whose outputs go to one tar archive, OUT/MANIFEST-00000I.tar. A run writes them to a
/// folder on the local disk; finish() makes the archive of them. Until then the output folder has
/// nothing of the shard, and a process that is killed leaves nothing: the next one begins anew.
class PackedShard : public ShardResults {
 public:
  /// `output`: absolute. An archive with other content is replaced only if `overwrite`. Throws
  /// FatalError, EnvironmentError.
  PackedShard(std::filesystem::path output, const ShardInputs& shard,
              const settings::Settings& settings, bool overwrite);
  /// Removes folder().
  ~PackedShard() override;

  const std::filesystem::path& archive() const { return archive_; }
  /// The settings with which a run fills folder(): nothing there is durable.
  const settings::Settings& run_settings() const { return settings_; }
  /// The output folder of the run, empty at first.
  std::filesystem::path folder() const { return scratch_.path() / "outputs"; }

  /// Returns the numbers of images if the archive exists and is recorded, and marks the shard as
  /// finished. Throws FatalError(usage) if it was made with other settings.
  std::optional<ShardCounts> finished() const;

  void begin() override;
  /// Does nothing.
  void publish() override {}
  /// Makes the archive of the outputs, in the order of the manifest, with an index and a report
  /// beside it.
  void finish() override;

 private:
  void check_inputs_exist() const;
  std::vector<std::string> output_names() const;
  bool has_equal_archive(const std::vector<std::string>& names) const;
  void publish_archive() const;
  void write_records() const;
  void publish_records() const;
  void begin_removal() noexcept;

  const std::filesystem::path output_;
  const ShardInputs shard_inputs_;
  const ShardId shard_;
  const io::ScratchFolder scratch_;
  const std::filesystem::path ledger_ = scratch_.path() / "ledger.db";    // of the run
  const std::filesystem::path records_ = scratch_.path() / "records.db";  // to be published
  const std::filesystem::path report_ = scratch_.path() / "report.jsonl";
  const std::filesystem::path archive_;
  const std::string settings_hash_;
  const settings::Settings settings_;
  const bool overwrite_;
  std::future<void> removal_;  // of folder(); must be destroyed before scratch_
};

/// The report of an archive, beside it: `a.tar` has `a.report.jsonl`.
std::filesystem::path report_path(const std::filesystem::path& archive);

}  // namespace eckart::app
