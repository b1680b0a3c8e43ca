#pragma once

#include <cstddef>
#include <cstdint>

#include "compute/backend.hpp"

namespace eckart::cuda {

/// The batched eigensolver indexes the batch with 32 bits, and no batch is less than an image of
/// three channels.
constexpr int kMaxGramColumns = 26754;
// A batch is never less than an image.
constexpr int kMaxChannels = 3;

/// Bytes of device memory that one plane of a batch takes, about: matrices and blocks of columns, a
/// share of what float64 takes for second attempts, slots. A batch that starts with gram takes
/// more.
double plane_bytes(const BatchWorkload& batch, SolverKind solver, std::size_t outputs);

/// Planes of a batch with unlimited memory. `requested`: planes that the settings ask for; 0: the
/// shape decides.
std::int64_t target_batch_planes(PaddedShape shape, int requested);

/// Planes of a batch, at least 1, in so many bytes of memory.
int limit_planes_to_memory(std::int64_t target_planes, double bytes, double bytes_per_plane);

/// Lanes on all devices where each has so many bytes of memory; `requested` > 0 decides.
int lane_count(double device_bytes, int devices, int requested);
/// Of the device with the most lanes.
double bytes_per_lane(double device_bytes, int devices, int lanes);

/// The planes that memory is reserved for, for one kind of batch. All numbers fall when memory runs
/// out.
struct BatchCapacity {
  int current = 0;    ///< of whole batches
  int full = 0;       ///< what `current` becomes with the first batch that is not small
  int recompute = 0;  ///< of planes recomputed at a time

  /// `batch_planes`: planes of a full batch.
  static BatchCapacity for_full_batch(int batch_planes);
  /// Before a batch of so many planes. An image that comes alone does not wait until there is
  /// memory for a full batch, which takes a tenth of a second.
  void grow_for(int planes, bool is_deterministic);
  /// After there was no memory for a batch of so many planes: for a full batch, or else for what
  /// there is, or else for this batch alone. False where it was for this batch alone already.
  bool shrink(int planes);
  /// After there was no memory to recompute `recompute` planes. False where it was one plane.
  bool shrink_recompute();
};

}  // namespace eckart::cuda
