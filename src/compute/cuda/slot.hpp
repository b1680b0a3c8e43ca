#pragma once

#include <set>
#include <span>
#include <vector>

#include "compute/backend.hpp"
#include "compute/cuda/codecs/input_decoder.hpp"
#include "compute/cuda/codecs/output_encoder.hpp"
#include "compute/cuda/kernels/reconstruct.hpp"
#include "compute/cuda/layout/packing.hpp"
#include "compute/cuda/layout/plane_layout.hpp"
#include "compute/cuda/plan/batch_plan.hpp"
#include "compute/cuda/raii.hpp"
#include "compute/cuda/solvers/solver.hpp"
#include "compute/cuda/timeline.hpp"
#include "compute/task_rank_rule.hpp"

namespace eckart::compute::cuda {

/// A plane of a batch and the task that it belongs to.
struct TaskPlane {
  Task* task;
  int channel;
  PlaneLayout plane;
  ImageNeeds needs{};  ///< of an uncertified plane of an adaptive plan
};

/// The streams of a lane: computation, and copies out. They run concurrently for different slots.
struct Streams {
  cudaStream_t compute, out;
};

/// The result of certifying a batch.
struct BatchCertification {
  /// Planes whose solver did not converge or returned a residual that is not finite, and planes
  /// with a loss estimate above kMaxLossDb if another solver follows. If ranks depend on singular
  /// values: all planes of such an image, and of images whose ranks could not be chosen.
  std::vector<TaskPlane> uncertified;
  /// Loss estimates without rounding, of planes that rounding does not keep from being certified;
  /// infinity if more iterations of the same solver are needed.
  std::vector<double> iteration_losses_db;
};

/// One batch in flight: pinned host memory for packed pixels and results, and the same buffers on
/// the device. Single-threaded, like its lane. Functions that take a stream or Streams, and wait(),
/// throw as check() does.
class Slot {
 public:
  Slot();

  /// Computes the layout of the tasks' planes, packs their pixels into pinned memory, and queues
  /// the copy in; stream `compute` waits for it. The tasks must stay alive until the last
  /// certify(). `padded_planes` is the number of planes to compute, at least those of the tasks.
  /// Memory is reserved for `capacity` >= padded_planes planes.
  void pack(const BatchKey& key, std::span<Task* const> tasks, int padded_planes, int capacity,
            const Streams& streams);
  /// Frees all memory on host and device; the next pack() allocates it again. No queued work may
  /// use it.
  void free_memory();
  /// Queues the copy in again; for benchmarks.
  void copy_in(cudaStream_t compute);
  /// The stream of copies in. Each slot has one, so that both decode JPEGs at the same time: the
  /// JPEGs of a batch use a few threads of the device for long.
  cudaStream_t in_stream() const { return in_.get(); }
  /// Waits until no queued copy in uses the slot's memory. Ignores errors.
  void drain() const noexcept;

  /// Restricts the batch to these planes, which must be among the packed ones, and queues the copy
  /// of their layouts on `stream`. Their pixels must be on the device when `stream` reaches this
  /// point. `padded_planes` is at least their number, and at most the capacity given to pack().
  void select_planes(std::span<const TaskPlane> task_planes, int padded_planes,
                     cudaStream_t stream);

  /// Reserves memory for the triplets of `capacity` planes, if factors are wanted. Call this before
  /// batch(). What was copied out before is lost.
  void reserve_triplets(const Problem& problem, int capacity);
  /// The buffers for a solver. The caller must add the workspace.
  DeviceBatch batch() const;

  /// Queues the copies out, after the work that `compute` has queued so far: first the results of
  /// the planes, which `solver` has computed, then the pixels, or encoded outputs if those are
  /// taken. The data is complete after wait().
  void copy_out_results(SolverKind solver, const SpectrumFormat& spectrum, const Streams& streams);
  void copy_out_outputs(const Streams& streams);
  void copy_out_pixels(const Streams& streams);
  /// Copies out only the pixels of the images that the selected planes belong to. They were
  /// computed again, so their outputs are not encoded.
  void copy_out_selected_pixels(const Streams& streams);
  /// Copies out the pixels of images with outputs that could not be encoded, and waits for them.
  /// Call wait() first.
  void copy_out_missing_pixels(const Streams& streams);
  void wait() const;

  bool has_encoded_inputs() const { return decoder_.is_used(); }
  /// The tasks whose inputs the GPU was to decode, and the CPU has to. The results of the batch are
  /// not valid if there are any. Call wait() first.
  std::vector<Task*> undecodable() const { return decoder_.undecodable(); }
  /// Adds how long the inputs took to decode. Call wait() first.
  void add_decoding_times(DecodingRates& rates) const { decoder_.add_times(rates); }
  /// The tasks of the batch.
  std::vector<Task*> tasks() const;

  /// Sets the results of the tasks, and their spectra and factors if wanted. Call wait() first. If
  /// `is_last`, no other solver follows, and every finite result counts as certified. Makes no CUDA
  /// call. A plane whose solver did not converge is returned as uncertified, and causes no
  /// exception.
  BatchCertification certify(Certificate certificate, bool is_last) const;

  /// Copies the pixels or encoded outputs of all packed images to their tasks. Call wait() first.
  void copy_to_outputs() const;

  /// The iterations that the first stage ran on the whole batch, and the revision of its plan.
  void set_computed_by(int iterations, int plan_revision) {
    iterations_ = iterations;
    plan_revision_ = plan_revision;
  }
  int iterations() const { return iterations_; }
  int plan_revision() const { return plan_revision_; }

  /// The times of this batch's work on the device, if tracing is enabled. Slot adds the copies.
  Timeline& timeline() { return timeline_; }

  /// The key of the last batch that was packed.
  const BatchKey& key() const { return key_; }
  int padded_planes() const { return padded_planes_; }
  std::span<const TaskPlane> task_planes() const { return task_planes_; }

 private:
  /// A buffer of the same size on host and device.
  struct MirroredBuffer {
    PinnedBuffer host;
    DeviceBuffer device;
    void reserve(std::size_t bytes, CallSite site = CallSite::current()) {
      host.reserve(bytes, site);
      device.reserve(bytes, site);
    }
    void copy_in(std::size_t bytes, cudaStream_t stream) const { copy_in(0, bytes, stream); }
    void copy_in(std::size_t from, std::size_t bytes, cudaStream_t stream) const;
    void copy_out(std::size_t bytes, cudaStream_t stream) const { copy_out(0, bytes, stream); }
    void copy_out(std::size_t from, std::size_t bytes, cudaStream_t stream) const;
  };

  void copy_in_plane_layouts(cudaStream_t stream);
  void copy_in_rules(cudaStream_t stream);
  std::vector<TaskPlane> whole_images(std::span<const TaskPlane> some) const;
  int needed_rank(std::size_t first_plane, int channels) const;
  PlaneSpectrum leading_values(std::size_t plane_index, std::vector<double>& squares) const;
  int chosen_rank(std::size_t plane_index, std::size_t rank_index) const;
  std::span<const double> values(std::size_t plane_index) const;
  void set_spectrum(std::size_t plane_index) const;
  void set_factors(std::size_t plane_index, double squared_norm) const;
  std::size_t largest_rank_index(std::size_t plane_index) const;
  PlaneResult make_result(std::size_t plane_index, std::size_t rank_index, double squared_norm,
                          double& rounding_db) const;
  std::span<const TileError> errors(std::size_t plane_index, std::size_t rank_index) const;
  double squared_norm(std::size_t plane_index) const;
  TileErrorLayout tile_error_layout() const {
    return {std::size_t(padded_planes_), std::size_t(tiles_)};
  }
  std::size_t ranks() const { return key_.ranks.size(); }
  std::size_t outputs() const { return ranks() - (key_.has_factor_rank() ? 1 : 0); }
  void pack_pixels();
  void copy_in_pixels(cudaStream_t stream) const;
  void plan_encoding(std::size_t full_bytes);
  void copy_out_pixels_of(const TaskPlane& image, cudaStream_t stream);
  std::size_t output_index(std::size_t image, std::size_t output) const {
    return image * outputs() + output;
  }

  BatchKey key_;
  int padded_planes_ = 0;  // planes to compute; those after task_planes_ are empty
  int tiles_ = 0;
  std::size_t packed_bytes_ = 0;
  bool has_16_bit_samples_ = false, has_wide_planes_ = false;
  int iterations_ = 0, plan_revision_ = 0;
  SolverKind solver_ = SolverKind::automatic;  // of the results
  SpectrumFormat spectrum_{};
  std::vector<TaskPlane> task_planes_;
  std::vector<TaskPlane> packed_images_;  // the first plane of each packed image
  bool is_adaptive_ = false;              // a rank depends on singular values
  MirroredBuffer pixels_, planes_, outputs_, errors_, values_, info_;
  MirroredBuffer rules_, ranks_;  // one per output and plane, output after output; if is_adaptive_
  MirroredBuffer squared_norms_;  // one per plane; if is_adaptive_
  MirroredBuffer triplets_;       // if factors are wanted
  TripletLayout triplet_layout_{};
  InputDecoder decoder_;
  OutputEncoder encoder_;              // if it is not used, pixels are copied out
  std::set<const Task*> with_pixels_;  // images whose pixels were copied out although it is
  Stream in_;
  Event copied_in_, computed_, copied_out_;
  Timeline timeline_;
};

}  // namespace eckart::compute::cuda
