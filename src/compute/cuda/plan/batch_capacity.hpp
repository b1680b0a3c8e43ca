#pragma once

#include <cstddef>
#include <cstdint>

#include "compute/backend.hpp"
#include "compute/cuda/layout/packing.hpp"

namespace eckart::compute::cuda {

/// The most columns that gram can decompose. cuSOLVER's batched eigensolver indexes a batch with 32
/// bits, and a batch has at least the kMaxImagePlanes planes of one image.
constexpr int kMaxGramColumns = 26754;

/// The estimated device memory of one plane of a batch in bytes: matrices, blocks of columns,
/// slots, and a share for recomputation in float64. gram needs more than subspace iteration.
/// `factor_rank`: the largest rank of the factors that are wanted; 0 if none are.
double plane_bytes(const BatchWorkload& batch, SolverKind solver, std::size_t outputs,
                   bool has_float_samples = false, int factor_rank = 0);

/// Planes of a batch if memory is unlimited. `requested` is the number in the settings; 0: the
/// shape decides.
std::int64_t target_batch_planes(PaddedShape shape, int requested);

/// Planes of a batch that fit in `bytes` of memory, at least 1.
int limit_planes_to_memory(std::int64_t target_planes, double bytes, double bytes_per_plane);

/// The number of lanes on `devices` devices with `device_bytes` of memory each. `requested` > 0 is
/// returned as it is.
int lane_count(double device_bytes, int devices, int requested);
/// Memory per lane on the device with the most lanes.
double bytes_per_lane(double device_bytes, int devices, int lanes);

/// The numbers of planes that memory is reserved for, for one kind of batch. They shrink when
/// memory runs out.
struct BatchCapacity {
  int current = 0;    ///< for a whole batch
  int full = 0;       ///< `current` after the first batch that is not small
  int recompute = 0;  ///< for planes recomputed at a time
  /// For planes that a block of an adaptive plan computes at a time.
  int block() const;

  /// The initial capacity; `batch_planes` is the size of a full batch.
  static BatchCapacity for_full_batch(int batch_planes);
  /// Call this before a batch of `planes` planes. A small batch reserves memory for small batches
  /// only, because allocating memory for a full batch takes about 0.1 s. A deterministic lane
  /// always reserves a full batch.
  void grow_for(int planes, bool is_deterministic);
  /// Call this if there was no memory for a batch of `planes` planes. Halves `current`, but not
  /// below `planes`. Returns false if it already was `planes`.
  bool shrink(int planes);
  /// Call this if there was no memory to recompute `recompute` planes. Halves it. Returns false if
  /// it was 1.
  bool shrink_recompute();
};

}  // namespace eckart::compute::cuda
