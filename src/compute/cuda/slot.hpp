#pragma once

#include <span>
#include <vector>

#include "compute/backend.hpp"
#include "compute/cuda/kernels/reconstruct.hpp"
#include "compute/cuda/layout/packing.hpp"
#include "compute/cuda/plane.hpp"
#include "compute/cuda/raii.hpp"
#include "compute/cuda/solvers/solver.hpp"
#include "compute/cuda/timeline.hpp"

namespace eckart::cuda {

/// Whose plane stands at a place of a batch.
struct Owner {
  Task* task;
  int channel;
  Plane plane;
};

/// The streams of a lane: copies in, computation and copies out go on at the same time, each for
/// another slot.
struct Streams {
  cudaStream_t in, compute, out;
};

/// What has become of a batch.
struct Verdict {
  /// Planes whose solver has not converged, has left no finite numbers, or may have lost more than
  /// kMostLossDb where another solver follows.
  std::vector<Owner> unsettled;
  int want_rounds = 0;  ///< of these, what more rounds of the same solver could have settled
  double worst_db = 0;  ///< what the others may have lost at most, but by rounding
};

/// One batch on its way through a lane: pinned host memory that the pixels are packed into, the
/// same on the device, and everything that comes back. Single-threaded, like its lane.
class Slot {
 public:
  Slot();

  /// Lays the tasks' planes out, packs their pixels into pinned memory and starts the copy in, for
  /// which `compute` waits. The tasks must live until the last settle(). `places`: planes the batch
  /// is computed for, at least the tasks' own; memory is taken for `capacity` >= places at once.
  void pack(const BatchKind& kind, std::span<Task* const> tasks, int places, int capacity,
            const Streams& streams);
  /// Gives all memory back, on both sides of the bus; the next pack() takes anew. Nothing queued
  /// may still use it.
  void free_memory();
  /// Starts the copy in again; for benchmarks.
  void copy_in(const Streams& streams);

  /// Makes the batch consist of these of its planes alone; their pixels are on the device already,
  /// or will be when `stream` has come this far.
  void keep_only(std::span<const Owner> owners, int places, cudaStream_t stream);

  /// What a solver works on; its workspace is the lane's.
  DeviceBatch batch() const;

  /// Starts the copies out, when `compute` has come this far: what is known of the planes, and the
  /// pixels. Everything is there after wait().
  void copy_out_findings(const Spectrum& spectrum, const Streams& streams);
  void copy_out_pixels(const Streams& streams);
  /// The pixels of the images alone whose planes the batch consists of now.
  void copy_out_own_pixels(const Streams& streams);
  void wait() const;

  /// Fills in the tasks' results. After wait(). Of the `last` solver every result that is one will
  /// do.
  Verdict judge(bool last) const;

  /// Copies the pixels of all that was packed to the tasks' outputs. After wait().
  void unpack() const;

  /// Rounds of subspace iteration that the whole batch was given.
  void set_rounds(int rounds) { rounds_ = rounds; }
  int rounds() const { return rounds_; }

  /// What is known of when the batch's work was done; copies are in it.
  Timeline& timeline() { return timeline_; }

  /// Of what was packed last.
  const BatchKind& kind() const { return kind_; }
  int places() const { return places_; }
  std::span<const Owner> owners() const { return owners_; }

 private:
  /// The same bytes on both sides of the bus.
  struct Mirrored {
    PinnedBuffer host;
    DeviceBuffer device;
    void reserve(std::size_t bytes) {
      host.reserve(bytes);
      device.reserve(bytes);
    }
    void copy_in(std::size_t bytes, cudaStream_t stream) const;
    void copy_out(std::size_t bytes, cudaStream_t stream) const { copy_out(0, bytes, stream); }
    void copy_out(std::size_t from, std::size_t bytes, cudaStream_t stream) const;
  };

  void lay_out_planes(cudaStream_t stream);
  PlaneResult result(std::size_t place, std::size_t rank_index, double squared_norm) const;
  std::span<const TileError> errors(std::size_t place, std::size_t rank_index) const;
  double squared_norm(std::size_t place) const;
  TileErrors tile_errors() const { return {std::size_t(places_), std::size_t(tiles_)}; }
  std::size_t ranks() const { return kind_.ranks.size(); }

  BatchKind kind_;
  int places_ = 0;  // planes the batch is computed for; those after the owners' are empty
  int tiles_ = 0;
  std::size_t packed_bytes_ = 0;
  bool sixteen_bits_ = false;
  int rounds_ = 0;
  Spectrum spectrum_{};
  std::vector<Owner> owners_;
  std::vector<Owner> images_;  // of all that was packed the first channels
  Mirrored pixels_, planes_, outputs_, errors_, values_, info_;
  Event there_, computed_, done_;
  Timeline timeline_;
};

}  // namespace eckart::cuda
