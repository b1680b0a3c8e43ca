#pragma once

#include <span>
#include <vector>

#include "compute/backend.hpp"
#include "compute/cuda/kernels/reconstruct.hpp"
#include "compute/cuda/layout/packing.hpp"
#include "compute/cuda/layout/plane_layout.hpp"
#include "compute/cuda/raii.hpp"
#include "compute/cuda/solvers/solver.hpp"
#include "compute/cuda/timeline.hpp"

namespace eckart::cuda {

/// Whose plane stands at a place of a batch.
struct TaskPlane {
  Task* task;
  int channel;
  PlaneLayout plane;
};

/// The streams of a lane: copies in, computation and copies out go on at the same time, each for
/// another slot.
struct Streams {
  cudaStream_t in, compute, out;
};

/// What has become of a batch.
struct BatchCertification {
  /// Planes whose solver has not converged, has left no finite numbers, or may have lost more than
  /// kMaxLossDb where another solver follows.
  std::vector<TaskPlane> uncertified;
  int planes_needing_iterations =
      0;  ///< of these, what more rounds of the same solver could have settled
  double max_iteration_loss_db = 0;  ///< what the others may have lost at most, but by rounding
};

/// One batch on its way through a lane: pinned host memory that the pixels are packed into, the
/// same on the device, and everything that comes back. Single-threaded, like its lane.
class Slot {
 public:
  Slot();

  /// Lays the tasks' planes out, packs their pixels into pinned memory and starts the copy in, for
  /// which `compute` waits. The tasks must live until the last settle(). `places`: planes the batch
  /// is computed for, at least the tasks' own; memory is taken for `capacity` >= places at once.
  void pack(const BatchKey& kind, std::span<Task* const> tasks, int padded_planes, int capacity,
            const Streams& streams);
  /// Gives all memory back, on both sides of the bus; the next pack() takes anew. Nothing queued
  /// may still use it.
  void free_memory();
  /// Starts the copy in again; for benchmarks.
  void copy_in(const Streams& streams);

  /// Makes the batch consist of these of its planes alone; their pixels are on the device already,
  /// or will be when `stream` has come this far.
  void select_planes(std::span<const TaskPlane> task_planes, int padded_planes,
                     cudaStream_t stream);

  /// What a solver works on; its workspace is the lane's.
  DeviceBatch batch() const;

  /// Starts the copies out, when `compute` has come this far: what is known of the planes, and the
  /// pixels. Everything is there after wait().
  void copy_out_results(const SpectrumFormat& spectrum, const Streams& streams);
  void copy_out_pixels(const Streams& streams);
  /// The pixels of the images alone whose planes the batch consists of now.
  void copy_out_selected_pixels(const Streams& streams);
  void wait() const;

  /// Fills in the tasks' results. After wait(). Of the `last` solver every result that is one will
  /// do.
  BatchCertification certify(bool last) const;

  /// Copies the pixels of all that was packed to the tasks' outputs. After wait().
  void copy_to_outputs() const;

  /// Iterations of subspace iteration that the whole batch was given.
  void set_iterations(int iterations) { iterations_ = iterations; }
  int iterations() const { return iterations_; }

  /// What is known of when the batch's work was done; copies are in it.
  Timeline& timeline() { return timeline_; }

  /// Of what was packed last.
  const BatchKey& kind() const { return kind_; }
  int padded_planes() const { return padded_planes_; }
  std::span<const TaskPlane> task_planes() const { return task_planes_; }

 private:
  /// The same bytes on both sides of the bus.
  struct MirroredBuffer {
    PinnedBuffer host;
    DeviceBuffer device;
    void reserve(std::size_t bytes, CallSite site = CallSite::current()) {
      host.reserve(bytes, site);
      device.reserve(bytes, site);
    }
    void copy_in(std::size_t bytes, cudaStream_t stream) const;
    void copy_out(std::size_t bytes, cudaStream_t stream) const { copy_out(0, bytes, stream); }
    void copy_out(std::size_t from, std::size_t bytes, cudaStream_t stream) const;
  };

  void copy_in_plane_layouts(cudaStream_t stream);
  PlaneResult result(std::size_t plane_index, std::size_t rank_index, double squared_norm) const;
  std::span<const TileError> errors(std::size_t plane_index, std::size_t rank_index) const;
  double squared_norm(std::size_t plane_index) const;
  TileErrorLayout tile_error_layout() const {
    return {std::size_t(padded_planes_), std::size_t(tiles_)};
  }
  std::size_t ranks() const { return kind_.ranks.size(); }

  BatchKey kind_;
  int padded_planes_ = 0;  // planes the batch is computed for; those after the owners' are empty
  int tiles_ = 0;
  std::size_t packed_bytes_ = 0;
  bool has_16_bit_samples_ = false;
  int iterations_ = 0;
  SpectrumFormat spectrum_{};
  std::vector<TaskPlane> task_planes_;
  std::vector<TaskPlane> packed_images_;  // of all that was packed the first channels
  MirroredBuffer pixels_, planes_, outputs_, errors_, values_, info_;
  Event copied_in_, computed_, copied_out_;
  Timeline timeline_;
};

}  // namespace eckart::cuda
