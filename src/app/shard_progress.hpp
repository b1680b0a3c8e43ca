#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "ledger/ledger.hpp"

namespace eckart::app {

/// Follows how far the shards of a manifest are, from the files that their processes publish in the
/// output folder. Used by one thread at a time.
class ShardProgress {
 public:
  ShardProgress(std::filesystem::path output, std::string manifest, std::int64_t shards);

  /// Reads what is new. A file that cannot be read counts as it was read last.
  void update();
  std::int64_t done() const;    ///< images
  std::int64_t failed() const;  ///< images
  /// The shards that are not finished, from 1 on.
  std::vector<std::int64_t> unfinished() const;

 private:
  struct Shard {
    ledger::InputCounts counts;
    bool is_finished = false;
  };
  void read(const std::filesystem::path& file, std::filesystem::file_time_type time);

  const std::filesystem::path folder_;
  std::map<std::filesystem::path, std::filesystem::file_time_type> read_;
  std::vector<Shard> shards_;
};

}  // namespace eckart::app
