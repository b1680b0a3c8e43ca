#include "compute/cuda/slot.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "compute/certificate.hpp"
#include "compute/cuda/profiler_range.hpp"
#include "core/quality.hpp"

namespace eckart::cuda {
void Slot::Mirrored::copy_in(std::size_t bytes, cudaStream_t stream) const {
  ECKART_CUDA_CHECK(
      cudaMemcpyAsync(device.as<>(), host.as<>(), bytes, cudaMemcpyHostToDevice, stream));
}

void Slot::Mirrored::copy_out(std::size_t from, std::size_t bytes, cudaStream_t stream) const {
  ECKART_CUDA_CHECK(cudaMemcpyAsync(host.as<>() + from, device.as<>() + from, bytes,
                                    cudaMemcpyDeviceToHost, stream));
}

Slot::Slot()
    : there_(make_handle<Event>(cudaEventCreateWithFlags, cudaEventDisableTiming)),
      computed_(make_handle<Event>(cudaEventCreateWithFlags, cudaEventDisableTiming)),
      done_(make_handle<Event>(cudaEventCreateWithFlags, cudaEventDisableTiming)) {}

void Slot::pack(const BatchKind& kind, std::span<Task* const> tasks, int places, int capacity,
                const Streams& streams) {
  const ProfilerRange range("pack");
  const PaddedShape shape = kind.shape;
  kind_ = kind;
  places_ = places;
  tiles_ = reconstruct_tiles(shape.rows, shape.cols);
  packed_bytes_ = 0;
  sixteen_bits_ = false;
  for (const Task* task : tasks) packed_bytes_ += packed_bytes(task->input.shape());

  // Room for a full batch at once, so that a later, fuller one finds it there.
  const auto planes = std::size_t(capacity);
  const std::size_t full = planes * std::size_t(shape.rows) * std::size_t(shape.cols);
  pixels_.reserve(std::max(packed_bytes_, full));
  outputs_.reserve(std::max(packed_bytes_, full) * ranks());
  planes_.reserve(planes * sizeof(Plane));
  const TileErrors all_errors{planes, std::size_t(tiles_)};
  errors_.reserve(all_errors.count(ranks()) * sizeof(TileError));
  values_.reserve(planes * max_values(shape.cols) * sizeof(double));
  info_.reserve(planes * sizeof(int));

  owners_.clear();
  images_.clear();
  std::size_t offset = 0;
  for (Task* task : tasks) {
    const ImageShape& image = task->input.shape();
    sixteen_bits_ = sixteen_bits_ || image.depth == Depth::u16;
    std::memcpy(pixels_.host.as<>() + offset, task->input.data(), image.bytes());
    for (int channel = 0; channel < image.channels; ++channel) {
      owners_.push_back({task, channel, packed_plane(image, offset, channel)});
    }
    images_.push_back(owners_[owners_.size() - std::size_t(image.channels)]);
    offset += packed_bytes(image);
  }
  lay_out_planes(streams.in);
  copy_in(streams);
}

void Slot::free_memory() {
  for (Mirrored* memory : {&pixels_, &planes_, &outputs_, &errors_, &values_, &info_}) *memory = {};
}

void Slot::copy_in(const Streams& streams) {
  timeline_.begin(DeviceSpan::copy_in, int(owners_.size()), streams.in);
  pixels_.copy_in(packed_bytes_, streams.in);
  timeline_.end(DeviceSpan::copy_in, streams.in);
  ECKART_CUDA_CHECK(cudaEventRecord(there_.get(), streams.in));
  ECKART_CUDA_CHECK(cudaStreamWaitEvent(streams.compute, there_.get(), 0));
}

void Slot::lay_out_planes(cudaStream_t stream) {
  Plane* plane = planes_.host.as<Plane>();
  for (const Owner& owner : owners_) *plane++ = owner.plane;
  std::fill(plane, planes_.host.as<Plane>() + places_, Plane{0, 0, 0, 1, 0, 1});
  planes_.copy_in(std::size_t(places_) * sizeof(Plane), stream);
}

void Slot::keep_only(std::span<const Owner> owners, int places, cudaStream_t stream) {
  owners_.assign(owners.begin(), owners.end());
  places_ = places;
  lay_out_planes(stream);
}

DeviceBatch Slot::batch() const {
  return {.pixels = pixels_.device.as<>(),
          .planes = planes_.device.as<Plane>(),
          .sixteen_bits = sixteen_bits_,
          .outputs = outputs_.device.as<>(),
          .output_step = packed_bytes_,
          .errors = errors_.device.as<TileError>(),
          .values = values_.device.as<double>(),
          .info = info_.device.as<int>(),
          .workspace = nullptr,
          .workspace_bytes = 0};
}

void Slot::copy_out_findings(const Spectrum& spectrum, const Streams& streams) {
  spectrum_ = spectrum;
  ECKART_CUDA_CHECK(cudaEventRecord(computed_.get(), streams.compute));
  ECKART_CUDA_CHECK(cudaStreamWaitEvent(streams.out, computed_.get(), 0));
  timeline_.begin(DeviceSpan::copy_out, int(owners_.size()), streams.out);
  const auto places = std::size_t(places_);
  errors_.copy_out(tile_errors().count(ranks()) * sizeof(TileError), streams.out);
  values_.copy_out(places * std::size_t(spectrum.values()) * sizeof(double), streams.out);
  info_.copy_out(places * sizeof(int), streams.out);
  timeline_.end(DeviceSpan::copy_out, streams.out);
  ECKART_CUDA_CHECK(cudaEventRecord(done_.get(), streams.out));
}

void Slot::copy_out_pixels(const Streams& streams) {
  outputs_.copy_out(packed_bytes_ * ranks(), streams.out);
  timeline_.end(DeviceSpan::copy_out, streams.out);
  ECKART_CUDA_CHECK(cudaEventRecord(done_.get(), streams.out));
}

void Slot::copy_out_own_pixels(const Streams& streams) {
  const Task* last = nullptr;
  for (const Owner& owner : owners_) {
    if (owner.task == last) continue;
    last = owner.task;
    for (std::size_t r = 0; r < ranks(); ++r) {
      outputs_.copy_out(r * packed_bytes_ + std::size_t(owner.plane.offset_bytes),
                        owner.task->input.bytes(), streams.out);
    }
  }
  timeline_.end(DeviceSpan::copy_out, streams.out);
  ECKART_CUDA_CHECK(cudaEventRecord(done_.get(), streams.out));
}

void Slot::wait() const {
  const ProfilerRange range("wait");
  ECKART_CUDA_CHECK(cudaEventSynchronize(done_.get()));
}

Verdict Slot::judge(bool last) const {
  Verdict verdict;
  for (std::size_t place = 0; place < owners_.size(); ++place) {
    const Owner& owner = owners_[place];
    const double norm = squared_norm(place);
    bool converged = info_.host.as<int>()[place] == 0, good = true, hopeless = false;
    double worst_db = 0;
    for (std::size_t r = 0; r < ranks(); ++r) {
      PlaneResult& to = owner.task->results[r][std::size_t(owner.channel)];
      to = result(place, r, norm);
      converged = converged && std::isfinite(to.residual);
      const double by_rounding =
          most_loss_db(to.rank, owner.plane.n(), to.residual, norm, spectrum_.precision);
      good = good && (to.most_loss_db <= kMostLossDb || last);
      hopeless = hopeless || !(by_rounding <= kMostLossDb);
      worst_db = std::max(worst_db, to.most_loss_db - by_rounding);
    }
    if (converged && good) {
      verdict.worst_db = std::max(verdict.worst_db, worst_db);
    } else {
      verdict.unsettled.push_back(owner);
      verdict.want_rounds += converged && !hopeless;
    }
  }
  return verdict;
}

void Slot::unpack() const {
  const ProfilerRange range("unpack to images");
  for (const Owner& image : images_) {
    for (std::size_t r = 0; r < ranks(); ++r) {
      std::memcpy(image.task->outputs[r].data(),
                  outputs_.host.as<>() + r * packed_bytes_ + image.plane.offset_bytes,
                  image.task->input.bytes());
    }
  }
}

PlaneResult Slot::result(std::size_t place, std::size_t rank_index, double squared_norm) const {
  const Plane& plane = owners_[place].plane;
  PlaneResult result{.rank = choose_rank(kind_.ranks[rank_index], plane.rows, plane.cols)};
  for (const TileError& error : errors(place, rank_index)) {
    result.squared_error += double(error.squared_error);
    result.residual += error.residual;
  }
  const auto values = std::size_t(spectrum_.values());
  rate(result, spectrum_, {values_.host.as<double>() + place * values, values}, plane,
       squared_norm);
  return result;
}

std::span<const TileError> Slot::errors(std::size_t place, std::size_t rank_index) const {
  const TileErrors all = tile_errors();
  return {errors_.host.as<TileError>() + all.first(place, rank_index), all.tiles};
}

double Slot::squared_norm(std::size_t place) const {
  double sum = 0;
  for (const TileError& error : errors(place, 0)) sum += double(error.squared_norm);
  return sum;
}

}  // namespace eckart::cuda
