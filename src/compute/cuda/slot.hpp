#pragma once

#include <span>
#include <vector>

#include "compute/backend.hpp"
#include "compute/cuda/kernels/reconstruct.hpp"
#include "compute/cuda/plane.hpp"
#include "compute/cuda/raii.hpp"

namespace eckart::cuda {

/// One batch on its way through a lane: pinned host memory that the pixels are packed into, the same on the
/// device, and everything that comes back. Single-threaded, like its lane.
class Slot {
 public:
  Slot();

  /// Lays the tasks' planes out, packs their pixels into pinned memory and starts the copy in. The
  /// tasks must live until unpack_results(). `places`: planes in the batch, at least the tasks' planes.
  void pack(PaddedShape shape, std::span<Task* const> tasks, int places, std::size_t ranks,
            cudaStream_t stream);

  /// Starts the copies out; everything is there when finished() returns.
  void copy_out(cudaStream_t stream);
  void wait() const;

  /// Copies the pixels to the tasks' outputs and fills in their results. After wait().
  void unpack_results(bool squares, const std::vector<RankPolicy>& ranks);

  PaddedShape shape() const { return shape_; }
  int places() const { return places_; }
  const std::byte* pixels() const { return pixels_.device.as<>(); }
  const Plane* planes() const { return planes_.device.as<Plane>(); }
  std::byte* output(std::size_t rank) const { return outputs_.device.as<>() + rank * packed_bytes_; }
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

  void lay_out(std::span<Task* const> tasks, int places);
  /// Fills in one task from its planes, which begin at `first`.
  void unpack_task(Task& task, int first, bool squares, const std::vector<RankPolicy>& ranks) const;
  PlaneResult result(int plane, std::size_t rank_index, int rank, bool squares) const;

  PaddedShape shape_;
  int places_ = 0;  // planes the batch is computed for
  int tiles_ = 0;
  std::size_t ranks_ = 0;
  std::size_t packed_bytes_ = 0;
  std::vector<Task*> tasks_;
  Mirrored pixels_, planes_, outputs_, errors_, values_, info_;
  Event done_;
};

}  // namespace eckart::cuda
