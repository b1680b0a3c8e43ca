#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "app/shard_ledger.hpp"
#include "io/folder_lock.hpp"
#include "settings/choices.hpp"

namespace eckart::app {

/// The ledger of an `eckart worker`. Like that of a shard it is on a local disk, and copies of it
/// are published in the output folder. It outlives the process: what was acknowledged to the broker
/// is in it, also after a kill.
class WorkerLedger {
 public:
  /// Takes the first folder below `state`, on a local disk, that has a ledger for this output
  /// folder and that no other process uses; makes one if there is none. Throws FatalError,
  /// EnvironmentError.
  WorkerLedger(const std::filesystem::path& output, const std::filesystem::path& state);

  /// The local file, as the setting ledger.file.
  settings::FileChoice choice() const { return settings::FileChoice::at(folder_ / "ledger.db"); }
  /// The prefix of the paths of files that this process may publish in the output folder.
  const std::string& published_prefix() const { return published_prefix_; }
  /// Publishes what earlier processes of this machine recorded, also with other ledgers that no
  /// process uses now, and then copies until publish(). Throws FatalError, EnvironmentError.
  void begin();
  /// Publishes the last copy, durably. Throws FatalError, EnvironmentError.
  void publish() { publisher_->publish(); }

 private:
  void publish_unused() const;

  const std::filesystem::path output_;
  std::filesystem::path folder_;
  std::optional<io::FolderLock> lock_;
  std::string published_prefix_;
  std::optional<LedgerPublisher> publisher_;
};

}  // namespace eckart::app
