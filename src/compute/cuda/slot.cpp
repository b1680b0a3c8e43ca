#include "compute/cuda/slot.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/spectrum.hpp"

namespace eckart::cuda {
namespace {

constexpr std::size_t kImageAlignment = 16;  // bytes; so that samples of two bytes are aligned

std::size_t aligned(std::size_t bytes) {
  return (bytes + kImageAlignment - 1) / kImageAlignment * kImageAlignment;
}

}  // namespace

void Slot::Mirrored::copy_in(std::size_t bytes, cudaStream_t stream) const {
  ECKART_CUDA_CHECK(
      cudaMemcpyAsync(device.as<>(), host.as<>(), bytes, cudaMemcpyHostToDevice, stream));
}

void Slot::Mirrored::copy_out(std::size_t bytes, cudaStream_t stream) const {
  ECKART_CUDA_CHECK(
      cudaMemcpyAsync(host.as<>(), device.as<>(), bytes, cudaMemcpyDeviceToHost, stream));
}

Slot::Slot() : done_(make_handle<Event>(cudaEventCreateWithFlags, cudaEventDisableTiming)) {}

void Slot::pack(PaddedShape shape, std::span<Task* const> tasks, int places, std::size_t ranks,
                cudaStream_t stream) {
  shape_ = shape;
  places_ = places;
  ranks_ = ranks;
  tiles_ = reconstruct_tiles(shape.rows, shape.cols);
  tasks_.assign(tasks.begin(), tasks.end());
  packed_bytes_ = 0;
  for (const Task* task : tasks) packed_bytes_ += aligned(task->input.bytes());

  // Room for a full batch at once, so that a later, fuller one finds it there.
  const std::size_t full = std::max(packed_bytes_, std::size_t(places) * std::size_t(shape.rows) * std::size_t(shape.cols));
  pixels_.reserve(full);
  outputs_.reserve(full * ranks);
  planes_.reserve(std::size_t(places) * sizeof(Plane));
  errors_.reserve(std::size_t(places) * std::size_t(tiles_) * ranks * sizeof(TileError));
  values_.reserve(std::size_t(places) * std::size_t(shape.cols) * sizeof(double));
  info_.reserve(std::size_t(places) * sizeof(int));

  lay_out(tasks, places);
  pixels_.copy_in(packed_bytes_, stream);
  planes_.copy_in(std::size_t(places) * sizeof(Plane), stream);
}

void Slot::lay_out(std::span<Task* const> tasks, int places) {
  Plane* plane = planes_.host.as<Plane>();
  std::size_t offset = 0;
  for (const Task* task : tasks) {
    const ImageShape& shape = task->input.shape();
    std::memcpy(pixels_.host.as<>() + offset, task->input.data(), shape.bytes());
    for (int channel = 0; channel < shape.channels; ++channel) {
      *plane++ = {std::int64_t(offset), shape.rows, shape.cols, shape.channels, channel, int(shape.depth)};
    }
    offset += aligned(shape.bytes());
  }
  std::fill(plane, planes_.host.as<Plane>() + places, Plane{0, 0, 0, 1, 0, 1});
}

void Slot::copy_out(cudaStream_t stream) {
  const std::size_t places = std::size_t(places_);
  outputs_.copy_out(packed_bytes_ * ranks_, stream);
  errors_.copy_out(places * std::size_t(tiles_) * ranks_ * sizeof(TileError), stream);
  values_.copy_out(places * std::size_t(shape_.cols) * sizeof(double), stream);
  info_.copy_out(places * sizeof(int), stream);
  ECKART_CUDA_CHECK(cudaEventRecord(done_.get(), stream));
}

void Slot::wait() const { ECKART_CUDA_CHECK(cudaEventSynchronize(done_.get())); }

void Slot::unpack_results(bool squares, const std::vector<RankPolicy>& ranks) {
  int first = 0;
  for (Task* task : tasks_) {
    unpack_task(*task, first, squares, ranks);
    first += task->input.shape().channels;
  }
}

void Slot::unpack_task(Task& task, int first, bool squares, const std::vector<RankPolicy>& ranks) const {
  const ImageShape& shape = task.input.shape();
  const std::int64_t offset = planes_.host.as<Plane>()[first].offset_bytes;
  for (std::size_t r = 0; r < ranks_; ++r) {
    std::memcpy(task.outputs[r].data(),
                outputs_.host.as<>() + r * packed_bytes_ + std::size_t(offset), shape.bytes());
    for (int channel = 0; channel < shape.channels; ++channel) {
      const int plane = first + channel;
      const int info = info_.host.as<int>()[plane];
      PlaneResult& to = task.results[r][std::size_t(channel)];
      to = result(plane, r, choose_rank(ranks[r], shape.rows, shape.cols), squares);
      if (info != 0 || !std::isfinite(to.residual)) {
        task.error = "channel " + std::to_string(channel) + ": the solver did not converge (info " +
                     std::to_string(info) + ")";
      }
    }
  }
}

PlaneResult Slot::result(int plane, std::size_t rank_index, int rank, bool squares) const {
  const auto n = std::size_t(shape_.cols);
  const double* values = values_.host.as<double>() + std::size_t(plane) * n;
  std::vector<double> sigma_squared(n);  // descending
  if (squares) {
    std::reverse_copy(values, values + n, sigma_squared.begin());
  } else {
    std::transform(values, values + n, sigma_squared.begin(), [](double s) { return s * s; });
  }
  PlaneResult result{.rank = rank,
                     .energy = energy(std::span(sigma_squared).first(std::size_t(rank)),
                                      optimal_error(sigma_squared, 0))};
  const TileError* errors = errors_.host.as<TileError>() +
                            (rank_index * std::size_t(places_) + std::size_t(plane)) * std::size_t(tiles_);
  for (int tile = 0; tile < tiles_; ++tile) {
    result.squared_error += double(errors[tile].squared_error);
    result.residual += errors[tile].residual;
  }
  return result;
}

}  // namespace eckart::cuda
