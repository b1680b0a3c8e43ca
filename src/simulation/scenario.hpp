#pragma once

#include <cstdint>

namespace eckart::simulation {

/// How often a process publishes the ledger of its shard.
inline constexpr double kPublicationIntervalS = 60;
/// An image opens its input and creates its output.
inline constexpr double kFilesPerImage = 2;
/// A shard with archives opens one, and creates one, its index and report, a ledger and a mark.
inline constexpr double kFilesPerArchivedShard = 6;

struct Batch {
  std::int64_t images = 0;
  std::int64_t shard_images = 5000;          ///< of each shard; the last one may have fewer
  double input_bytes = 0, output_bytes = 0;  ///< of an image
  bool has_archives = false;  ///< the inputs and the outputs of each shard are in an archive

  /// Files that are opened or created for an image, on average.
  double files_per_image() const {
    return has_archives ? kFilesPerArchivedShard / double(shard_images) : kFilesPerImage;
  }
  std::int64_t shards() const { return (images + shard_images - 1) / shard_images; }
};

/// What the nodes are like.
struct NodeModel {
  double images_per_s = 1;  ///< of a node alone, after its start-up
  double variation = 0;     ///< of the time of a shard: standard deviation / mean
  double startup_s = 0;     ///< of each shard: a shard is processed by a process of its own
  double slow_share = 0;    ///< of the nodes; these take `slow_factor` times as long
  double slow_factor = 1;
  double mtbf_s = 0;      ///< mean time between failures of a node; 0: nodes do not fail
  double detect_s = 300;  ///< until the shard of a failed node is queued again
  double repair_s = 3600;
};

/// Rates of the storage that all nodes share. 0: no limit.
struct Storage {
  double read_bytes_per_s = 0, write_bytes_per_s = 0;
  double files_per_s = 0;  ///< opened or created
};

/// A batch of images, and the nodes and the storage that process it.
struct Scenario {
  int nodes = 1;
  Batch batch = {};
  NodeModel node = {};
  Storage storage = {};
  double dispatched_shards_per_s = 0;  ///< of the scheduler; 0: no limit
  double merged_images_per_s = 0;      ///< of the merge of the ledgers at the end; 0: no merge
  std::uint64_t seed = 1;
};

}  // namespace eckart::simulation
