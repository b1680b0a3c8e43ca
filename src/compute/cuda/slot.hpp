#pragma once

#include <span>
#include <vector>

#include "compute/backend.hpp"
#include "compute/cuda/kernels/reconstruct.hpp"
#include "compute/cuda/plane.hpp"
#include "compute/cuda/raii.hpp"
#include "compute/cuda/solvers/solver.hpp"

namespace eckart::cuda {

/// One batch on its way through a lane: pinned host memory that the pixels are packed into, the
/// same on the device, and everything that comes back. Single-threaded, like its lane.
class Slot {
 public:
  Slot();

  /// Lays the tasks' planes out, packs their pixels into pinned memory and starts the copy in. The
  /// tasks must live until the last unpack_results(). `places`: planes the batch is computed for,
  /// at least the tasks' own; memory is taken for `capacity` >= places at once.
  void pack(PaddedShape shape, std::span<Task* const> tasks, int places, int capacity,
            std::size_t ranks, cudaStream_t stream);

  /// Starts the copies out; everything is there after wait().
  void copy_out(const Spectrum& spectrum, cudaStream_t stream);
  void wait() const;

  /// Which planes' solver has not converged, as their places in the batch; waits for the stream.
  std::vector<int> unsettled(cudaStream_t stream) const;

  /// Copies the pixels to the tasks' outputs and fills in their results. Returns the places whose
  /// solver has not converged, or has left no finite numbers. After wait().
  std::vector<int> unpack_results(const std::vector<RankPolicy>& ranks);

  /// Makes the batch consist of these of its planes alone, whose pixels are on the device already.
  void keep_only(const std::vector<int>& planes, int places, cudaStream_t stream);

  /// The tasks of these planes have failed.
  void fail(const std::vector<int>& planes, const std::string& error);

  PaddedShape shape() const { return shape_; }
  int places() const { return places_; }
  const std::byte* pixels() const { return pixels_.device.as<>(); }
  const Plane* planes() const { return planes_.device.as<Plane>(); }
  std::byte* output(std::size_t rank) const {
    return outputs_.device.as<>() + rank * packed_bytes_;
  }
  TileError* errors(std::size_t rank) const {
    return errors_.device.as<TileError>() + rank * std::size_t(places_) * std::size_t(tiles_);
  }
  double* values() const { return values_.device.as<double>(); }
  int* info() const { return info_.device.as<int>(); }

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
    void copy_out(std::size_t bytes, cudaStream_t stream) const;
  };
  /// Whose plane stands at a place of the batch.
  struct Owner {
    Task* task;
    int channel;
    Plane plane;
  };

  void lay_out_planes(cudaStream_t stream);
  void unpack_pixels(Task& task, std::int64_t offset_bytes) const;
  PlaneResult result(std::size_t place, std::size_t rank_index, const RankPolicy& policy) const;

  PaddedShape shape_;
  int places_ = 0;  // planes the batch is computed for; those after the owners' are empty
  int tiles_ = 0;
  std::size_t ranks_ = 0;
  std::size_t packed_bytes_ = 0;
  Spectrum spectrum_{};
  std::vector<Owner> owners_;
  Mirrored pixels_, planes_, outputs_, errors_, values_, info_;
  Event done_;
};

}  // namespace eckart::cuda
