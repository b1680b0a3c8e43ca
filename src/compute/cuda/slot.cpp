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

void Slot::pack(PaddedShape shape, std::span<Task* const> tasks, int places, int capacity,
                std::size_t ranks, cudaStream_t stream) {
  shape_ = shape;
  places_ = places;
  ranks_ = ranks;
  tiles_ = reconstruct_tiles(shape.rows, shape.cols);
  packed_bytes_ = 0;
  for (const Task* task : tasks) packed_bytes_ += aligned(task->input.bytes());

  // Room for a full batch at once, so that a later, fuller one finds it there.
  const auto planes = std::size_t(capacity);
  const std::size_t full = planes * std::size_t(shape.rows) * std::size_t(shape.cols);
  pixels_.reserve(std::max(packed_bytes_, full));
  outputs_.reserve(std::max(packed_bytes_, full) * ranks);
  planes_.reserve(planes * sizeof(Plane));
  errors_.reserve(planes * std::size_t(tiles_) * ranks * sizeof(TileError));
  values_.reserve(planes * std::size_t(shape.cols) * sizeof(double));
  info_.reserve(planes * sizeof(int));

  owners_.clear();
  std::size_t offset = 0;
  for (Task* task : tasks) {
    const ImageShape& image = task->input.shape();
    std::memcpy(pixels_.host.as<>() + offset, task->input.data(), image.bytes());
    for (int channel = 0; channel < image.channels; ++channel) {
      owners_.push_back({task,
                         channel,
                         {std::int64_t(offset), image.rows, image.cols, image.channels, channel,
                          int(image.depth)}});
    }
    offset += aligned(image.bytes());
  }
  pixels_.copy_in(packed_bytes_, stream);
  lay_out_planes(stream);
}

void Slot::lay_out_planes(cudaStream_t stream) {
  Plane* plane = planes_.host.as<Plane>();
  for (const Owner& owner : owners_) *plane++ = owner.plane;
  std::fill(plane, planes_.host.as<Plane>() + places_, Plane{0, 0, 0, 1, 0, 1});
  planes_.copy_in(std::size_t(places_) * sizeof(Plane), stream);
}

void Slot::keep_only(const std::vector<int>& planes, int places, cudaStream_t stream) {
  std::vector<Owner> kept;
  for (const int plane : planes) kept.push_back(owners_[std::size_t(plane)]);
  owners_ = std::move(kept);
  places_ = places;
  lay_out_planes(stream);
}

void Slot::copy_out(const Spectrum& spectrum, cudaStream_t stream) {
  spectrum_ = spectrum;
  const auto places = std::size_t(places_);
  outputs_.copy_out(packed_bytes_ * ranks_, stream);
  errors_.copy_out(places * std::size_t(tiles_) * ranks_ * sizeof(TileError), stream);
  values_.copy_out(places * std::size_t(spectrum.columns) * sizeof(double), stream);
  info_.copy_out(places * sizeof(int), stream);
  ECKART_CUDA_CHECK(cudaEventRecord(done_.get(), stream));
}

void Slot::wait() const { ECKART_CUDA_CHECK(cudaEventSynchronize(done_.get())); }

std::vector<int> Slot::unsettled(cudaStream_t stream) const {
  info_.copy_out(std::size_t(places_) * sizeof(int), stream);
  ECKART_CUDA_CHECK(cudaStreamSynchronize(stream));
  std::vector<int> unsettled;
  for (int place = 0; place < int(owners_.size()); ++place) {
    if (info_.host.as<int>()[place] != 0) unsettled.push_back(place);
  }
  return unsettled;
}

std::vector<int> Slot::unpack_results(const std::vector<RankPolicy>& ranks) {
  std::vector<int> unsettled;
  for (std::size_t place = 0; place < owners_.size(); ++place) {
    const Owner& owner = owners_[place];
    const bool first_of_task = place == 0 || owners_[place - 1].task != owner.task;
    if (first_of_task) unpack_pixels(*owner.task, owner.plane.offset_bytes);
    bool finite = true;
    for (std::size_t r = 0; r < ranks_; ++r) {
      PlaneResult& to = owner.task->results[r][std::size_t(owner.channel)];
      to = result(place, r, ranks[r]);
      finite = finite && std::isfinite(to.residual);
    }
    if (info_.host.as<int>()[place] != 0 || !finite) unsettled.push_back(int(place));
  }
  return unsettled;
}

void Slot::unpack_pixels(Task& task, std::int64_t offset_bytes) const {
  for (std::size_t r = 0; r < ranks_; ++r) {
    std::memcpy(task.outputs[r].data(), outputs_.host.as<>() + r * packed_bytes_ + offset_bytes,
                task.input.bytes());
  }
}

PlaneResult Slot::result(std::size_t place, std::size_t rank_index,
                         const RankPolicy& policy) const {
  PlaneResult result{.rank =
                         choose_rank(policy, owners_[place].plane.rows, owners_[place].plane.cols)};
  const TileError* errors = errors_.host.as<TileError>() +
                            (rank_index * std::size_t(places_) + place) * std::size_t(tiles_);
  double squared_norm = 0;
  for (int tile = 0; tile < tiles_; ++tile) {
    squared_norm += double(errors[tile].squared_norm);
    result.squared_error += double(errors[tile].squared_error);
    result.residual += errors[tile].residual;
  }
  const auto columns = std::size_t(spectrum_.columns);
  const double* values = values_.host.as<double>() + place * columns;
  std::vector<double> leading(std::size_t(result.rank));  // sigma^2, descending
  if (spectrum_.order == ValueOrder::ascending_squares) {
    std::reverse_copy(values + columns - leading.size(), values + columns, leading.begin());
  } else {
    std::transform(values, values + leading.size(), leading.begin(),
                   [](double s) { return s * s; });
  }
  result.energy = energy(leading, squared_norm);
  return result;
}

void Slot::fail(const std::vector<int>& planes, const std::string& error) {
  for (const int plane : planes) {
    const Owner& owner = owners_[std::size_t(plane)];
    owner.task->error = "channel " + std::to_string(owner.channel) + ": " + error + " (info " +
                        std::to_string(info_.host.as<int>()[plane]) + ")";
  }
}

}  // namespace eckart::cuda
