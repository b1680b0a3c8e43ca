#pragma once

#include <array>
#include <cstdint>

#include "core/enum_names.hpp"
#include "simulation/scenario.hpp"

namespace eckart::simulation {

/// What may limit a batch.
enum class Limit {
  nodes,          ///< they compute
  startup,        ///< of the process of each shard
  dispatch,       ///< of shards by the scheduler
  storage_read,   ///< bytes
  storage_write,  ///< bytes
  storage_files,  ///< opened and created
  last_shards,    ///< nodes are idle because no shard is left
  failures,       ///< nodes are down
  merge,          ///< of the ledgers
};

constexpr std::array<EnumName<Limit>, 9> enum_names(Limit) {
  return {{{Limit::nodes, "nodes"},
           {Limit::startup, "start-up"},
           {Limit::dispatch, "dispatch"},
           {Limit::storage_read, "storage read"},
           {Limit::storage_write, "storage write"},
           {Limit::storage_files, "storage files"},
           {Limit::last_shards, "last shards"},
           {Limit::failures, "failures"},
           {Limit::merge, "ledger merge"}}};
}

/// For each Limit, a share of the whole time from 0 to 1: of the node time, in which nodes compute,
/// start, have no shard or are down; of the time of scheduler, storage and merge, in which these
/// are busy.
class TimeShares {
 public:
  double& operator[](Limit limit) { return shares_.at(std::size_t(limit)); }
  double operator[](Limit limit) const { return shares_.at(std::size_t(limit)); }
  /// The limit with the largest share.
  Limit largest() const;
  /// The same until the ledgers are merged.
  Limit largest_before_merge() const;

 private:
  std::array<double, enum_names(Limit{}).size()> shares_ = {};
};

struct Result {
  double makespan_s = 0;  ///< with the merge of the ledgers
  double merge_s = 0;
  std::int64_t shards = 0;
  std::int64_t images_written = 0;   ///< with those that were written twice
  std::int64_t images_repeated = 0;  ///< written again because no published ledger recorded them
  std::int64_t failures = 0;         ///< of nodes
  double images_per_s = 0;           ///< images of the batch / makespan
  double efficiency = 0;             ///< images_per_s / (nodes x rate of a node alone)
  TimeShares shares = {};

  Limit limit() const { return shares.largest(); }
};

/// The most shards of a simulation.
inline constexpr std::int64_t kMaxShards = 10'000'000;

/// Simulates a batch, event by event. docs/reference/simulate.md describes the model. All numbers
/// of `scenario` must be in their range. The result depends only on `scenario`.
///
/// Throws std::invalid_argument if there are more than kMaxShards shards, or if nodes fail so often
/// that shards are not finished.
Result simulate(const Scenario& scenario);

/// Returns the images of a chunk, which the simulation moves as one: a 50th of a shard, or the
/// images of 6 s if these are fewer; more if there were too many chunks to simulate.
std::int64_t chunk_images(const Scenario& scenario);

}  // namespace eckart::simulation
