#pragma once

#include <cstddef>
#include <cstdint>

#include "compute/backend.hpp"

namespace eckart::cuda {

/// The batched eigensolver indexes the batch with 32 bits, and no batch is less than an image of
/// three channels.
constexpr int kMostGramColumns = 26754;
// A batch is never less than an image.
constexpr int kMostChannels = 3;

/// Bytes of device memory that one plane of a batch takes, about: matrices and blocks of columns, a
/// share of what float64 takes for second attempts, slots. A batch that starts with gram takes
/// more.
double plane_bytes(const BatchSize& batch, SolverKind solver, std::size_t outputs);

/// Planes of a batch were there memory without end; `asked`: planes that the settings want, 0 where
/// the shape decides.
std::int64_t planes_wanted(PaddedShape shape, int asked);

/// Planes of a batch, at least 1, in so many bytes of memory.
int planes_that_fit(std::int64_t wanted, double bytes, double bytes_per_plane);

/// Lanes on all devices where each has so many bytes of memory; `asked` > 0 decides.
int lanes_for(double device_bytes, int devices, int asked);
/// Of the device with the most lanes.
double bytes_per_lane(double device_bytes, int devices, int lanes);

/// How many planes memory is taken for, of one kind of batch. All numbers fall where there is no
/// memory for so many.
struct Places {
  int now = 0;  ///< for the first solver
  int full;     ///< which that becomes with the first batch that is not small
  int retry;    ///< for those that it leaves to the others

  /// `batch_planes`: planes of a full batch.
  static Places of(int batch_planes);
  /// Before a batch of so many planes. An image that comes alone does not wait until there is
  /// memory for a full batch, which takes a tenth of a second.
  void make(int planes, bool is_deterministic);
  /// After there was no memory for a batch of so many planes: for a full batch, or else for what
  /// there is, or else for this batch alone. False where it was for this batch alone already.
  bool shrink(int planes);
};

}  // namespace eckart::cuda
