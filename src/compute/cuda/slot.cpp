#include "compute/cuda/slot.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "compute/cuda/profiler_range.hpp"
#include "compute/float_scale.hpp"

namespace eckart::compute::cuda {
void Slot::MirroredBuffer::copy_in(std::size_t from, std::size_t bytes, cudaStream_t stream) const {
  ECKART_CUDA_CHECK_COPY(cudaMemcpyAsync(device.as<>() + from, host.as<>() + from, bytes,
                                         cudaMemcpyHostToDevice, stream),
                         bytes);
}

void Slot::MirroredBuffer::copy_out(std::size_t from, std::size_t bytes,
                                    cudaStream_t stream) const {
  ECKART_CUDA_CHECK_COPY(cudaMemcpyAsync(host.as<>() + from, device.as<>() + from, bytes,
                                         cudaMemcpyDeviceToHost, stream),
                         bytes);
}

Slot::Slot()
    : in_(ECKART_CUDA_HANDLE(Stream, cudaStreamCreateWithFlags, cudaStreamNonBlocking)),
      copied_in_(ECKART_CUDA_HANDLE(Event, cudaEventCreateWithFlags, cudaEventDisableTiming)),
      computed_(ECKART_CUDA_HANDLE(Event, cudaEventCreateWithFlags, cudaEventDisableTiming)),
      // wait() sleeps: load and write threads need the core.
      copied_out_(ECKART_CUDA_HANDLE(Event, cudaEventCreateWithFlags,
                                     cudaEventDisableTiming | cudaEventBlockingSync)) {}

void Slot::pack(const BatchKey& key, std::span<Task* const> tasks, int padded_planes, int capacity,
                const Streams& streams) {
  const ProfilerRange range("pack");
  const PaddedShape shape = key.shape;
  key_ = key;
  padded_planes_ = padded_planes;
  tiles_ = reconstruct_tile_count(shape.rows, shape.cols);
  is_adaptive_ = key.has_plane_ranks();
  packed_bytes_ = 0;
  has_16_bit_samples_ = has_wide_planes_ = false;
  for (const Task* task : tasks) packed_bytes_ += packed_bytes(task->input.shape());

  // Reserve memory for a full batch, so that a later, fuller batch need not allocate.
  const auto planes = std::size_t(capacity);
  const std::size_t full = planes * std::size_t(shape.rows) * std::size_t(shape.cols) *
                           (key.has_float_samples ? sizeof(float) : 1);
  const bool is_all_encoded =
      std::ranges::all_of(tasks, [](const Task* task) { return task->encoded_input != nullptr; });
  pixels_.device.reserve(std::max(packed_bytes_, full));
  if (!is_all_encoded) pixels_.host.reserve(std::max(packed_bytes_, full));
  outputs_.device.reserve(std::max(packed_bytes_, full) * ranks());
  planes_.reserve(planes * sizeof(PlaneLayout));
  const TileErrorLayout all_errors{planes, std::size_t(tiles_)};
  errors_.reserve(all_errors.count(ranks()) * sizeof(TileError));
  values_.reserve(planes * max_values_per_plane(shape.cols) * sizeof(double));
  info_.reserve(planes * sizeof(int));
  if (is_adaptive_) {
    rules_.reserve(planes * ranks() * sizeof(RankRule));
    ranks_.reserve(planes * ranks() * sizeof(int));
    squared_norms_.reserve(planes * sizeof(double));
  }

  task_planes_.clear();
  packed_images_.clear();
  std::size_t offset = 0;
  for (Task* task : tasks) {
    const ImageShape& image = task->input.shape();
    has_16_bit_samples_ = has_16_bit_samples_ || image.depth == Depth::u16;
    has_wide_planes_ = has_wide_planes_ || image.rows < image.cols;
    for (int channel = 0; channel < image.channels; ++channel) {
      const double scale =
          is_float(image.depth) ? float_scale(std::as_const(task->input).plane<float>(channel)) : 1;
      task_planes_.push_back({task, channel, packed_plane(image, offset, channel, scale)});
    }
    packed_images_.push_back(task_planes_[task_planes_.size() - std::size_t(image.channels)]);
    offset += packed_bytes(image);
  }
  pack_pixels();
  plan_encoding(full);
  if (!encoder_.is_used()) outputs_.host.reserve(outputs_.device.bytes());
  copy_in_plane_layouts(in_.get());
  copy_in(streams.compute);
}

/// Copies samples, or what the GPU decodes, to pinned memory.
void Slot::pack_pixels() {
  std::vector<DeviceInput> encoded;
  for (const TaskPlane& packed : packed_images_) {
    Task& task = *packed.task;
    if (task.encoded_input) {
      encoded.push_back({&task, std::size_t(packed.plane.offset_bytes)});
    } else {
      std::memcpy(pixels_.host.as<>() + packed.plane.offset_bytes, std::as_const(task.input).data(),
                  task.input.bytes());
    }
  }
  decoder_.plan(encoded, packed_bytes_);
}

/// All at once, or only those that are not decoded on the GPU.
void Slot::copy_in_pixels(cudaStream_t stream) const {
  if (!decoder_.is_used()) return pixels_.copy_in(packed_bytes_, stream);
  for (const TaskPlane& packed : packed_images_) {
    if (packed.task->encoded_input) continue;
    pixels_.copy_in(std::size_t(packed.plane.offset_bytes), packed.task->input.bytes(), stream);
  }
}

std::vector<Task*> Slot::tasks() const {
  std::vector<Task*> tasks;
  for (const TaskPlane& packed : packed_images_) tasks.push_back(packed.task);
  return tasks;
}

/// Image after image.
void Slot::plan_encoding(std::size_t full_bytes) {
  with_pixels_.clear();
  std::vector<DeviceOutput> encoded;
  if (key_.encoding) {
    for (const TaskPlane& image : packed_images_)
      for (std::size_t r = 0; r < outputs(); ++r)
        encoded.push_back({.shape = image.task->input.shape(),
                           .pixels = std::int64_t(r * packed_bytes_) + image.plane.offset_bytes,
                           .input = image.plane.offset_bytes});
  }
  encoder_.plan(key_.encoding, encoded, std::max(packed_bytes_, full_bytes) * outputs());
}

void Slot::free_memory() {
  for (MirroredBuffer* memory : {&pixels_, &planes_, &outputs_, &errors_, &values_, &info_, &rules_,
                                 &ranks_, &squared_norms_, &triplets_})
    *memory = {};
  decoder_.free_memory();
  encoder_.free_memory();
}

void Slot::copy_in(cudaStream_t compute) {
  timeline_.begin(DeviceSpan::copy_in, int(task_planes_.size()), in_.get());
  copy_in_pixels(in_.get());
  decoder_.decode(pixels_.device.as<>(), in_.get());
  timeline_.end(DeviceSpan::copy_in, in_.get());
  ECKART_CUDA_CHECK(cudaEventRecord(copied_in_.get(), in_.get()));
  ECKART_CUDA_CHECK(cudaStreamWaitEvent(compute, copied_in_.get(), 0));
}

void Slot::drain() const noexcept { static_cast<void>(cudaStreamSynchronize(in_.get())); }

void Slot::copy_in_plane_layouts(cudaStream_t stream) {
  PlaneLayout* plane = planes_.host.as<PlaneLayout>();
  for (const TaskPlane& task_plane : task_planes_) *plane++ = task_plane.plane;
  std::fill(plane, planes_.host.as<PlaneLayout>() + padded_planes_,
            PlaneLayout{0, 0, 0, 1, 0, 1, 1});
  planes_.copy_in(std::size_t(padded_planes_) * sizeof(PlaneLayout), stream);
  if (is_adaptive_) copy_in_rules(stream);
}

void Slot::copy_in_rules(cudaStream_t stream) {
  const auto padded_planes = std::size_t(padded_planes_);
  for (std::size_t r = 0; r < ranks(); ++r) {
    RankRule* rule = rules_.host.as<RankRule>() + r * padded_planes;
    std::fill_n(rule, padded_planes, RankRule{});
    for (const TaskPlane& task_plane : task_planes_) {
      const Task& task = *task_plane.task;
      *rule++ = r < outputs() ? make_rank_rule(task, r, task_plane.channel)
                              : make_rank_rule(key_.ranks[r], task.input.shape(), task.peak);
    }
  }
  rules_.copy_in(padded_planes * ranks() * sizeof(RankRule), stream);
}

void Slot::select_planes(std::span<const TaskPlane> task_planes, int padded_planes,
                         cudaStream_t stream) {
  task_planes_.assign(task_planes.begin(), task_planes.end());
  padded_planes_ = padded_planes;
  copy_in_plane_layouts(stream);
}

void Slot::reserve_triplets(const Problem& problem, int capacity) {
  if (!key_.min_factor_rank) return;
  triplet_layout_ = {problem.m, problem.n, problem.rank()};
  triplets_.reserve(std::size_t(capacity) * triplet_layout_.plane_bytes());
}

DeviceBatch Slot::batch() const {
  return {.pixels = pixels_.device.as<>(),
          .planes = planes_.device.as<PlaneLayout>(),
          .has_16_bit_samples = has_16_bit_samples_,
          .has_wide_planes = has_wide_planes_,
          .outputs = outputs_.device.as<>(),
          .output_stride_bytes = packed_bytes_,
          .errors = errors_.device.as<TileError>(),
          .values = values_.device.as<double>(),
          .info = info_.device.as<int>(),
          .rules = is_adaptive_ ? rules_.device.as<RankRule>() : nullptr,
          .ranks = ranks_.device.as<int>(),
          .squared_norms = squared_norms_.device.as<double>(),
          .triplets = {key_.min_factor_rank ? triplets_.device.as<>() : nullptr, triplet_layout_},
          .workspace = nullptr,
          .workspace_bytes = 0};
}

void Slot::copy_out_results(SolverKind solver, const SpectrumFormat& spectrum,
                            const Streams& streams) {
  solver_ = solver;
  spectrum_ = spectrum;
  ECKART_CUDA_CHECK(cudaEventRecord(computed_.get(), streams.compute));
  ECKART_CUDA_CHECK(cudaStreamWaitEvent(streams.out, computed_.get(), 0));
  timeline_.begin(DeviceSpan::copy_out, int(task_planes_.size()), streams.out);
  const auto padded_planes = std::size_t(padded_planes_);
  errors_.copy_out(tile_error_layout().count(ranks()) * sizeof(TileError), streams.out);
  values_.copy_out(padded_planes * std::size_t(spectrum.values()) * sizeof(double), streams.out);
  info_.copy_out(padded_planes * sizeof(int), streams.out);
  if (is_adaptive_) {
    ranks_.copy_out(padded_planes * ranks() * sizeof(int), streams.out);
    squared_norms_.copy_out(padded_planes * sizeof(double), streams.out);
  }
  if (key_.min_factor_rank)
    triplets_.copy_out(task_planes_.size() * triplet_layout_.plane_bytes(), streams.out);
  timeline_.end(DeviceSpan::copy_out, streams.out);
  ECKART_CUDA_CHECK(cudaEventRecord(copied_out_.get(), streams.out));
}

void Slot::copy_out_outputs(const Streams& streams) {
  if (!encoder_.is_used()) return copy_out_pixels(streams);
  encoder_.encode(outputs_.device.as<>(), pixels_.device.as<>(), streams.out);
  timeline_.end(DeviceSpan::copy_out, streams.out);
  ECKART_CUDA_CHECK(cudaEventRecord(copied_out_.get(), streams.out));
}

void Slot::copy_out_pixels(const Streams& streams) {
  if (outputs() > 0) outputs_.copy_out(packed_bytes_ * outputs(), streams.out);
  timeline_.end(DeviceSpan::copy_out, streams.out);
  ECKART_CUDA_CHECK(cudaEventRecord(copied_out_.get(), streams.out));
}

void Slot::copy_out_pixels_of(const TaskPlane& image, cudaStream_t stream) {
  outputs_.host.reserve(outputs_.device.bytes());
  for (std::size_t r = 0; r < outputs(); ++r)
    outputs_.copy_out(r * packed_bytes_ + std::size_t(image.plane.offset_bytes),
                      image.task->input.bytes(), stream);
  with_pixels_.insert(image.task);
}

void Slot::copy_out_selected_pixels(const Streams& streams) {
  const Task* last = nullptr;
  for (const TaskPlane& task_plane : task_planes_) {
    if (task_plane.task == last) continue;
    last = task_plane.task;
    copy_out_pixels_of(task_plane, streams.out);
  }
  timeline_.end(DeviceSpan::copy_out, streams.out);
  ECKART_CUDA_CHECK(cudaEventRecord(copied_out_.get(), streams.out));
}

void Slot::copy_out_missing_pixels(const Streams& streams) {
  if (!encoder_.is_used()) return;
  bool is_any_missing = false;
  for (std::size_t i = 0; i < packed_images_.size(); ++i) {
    bool is_missing = false;
    for (std::size_t r = 0; r < outputs(); ++r) is_missing |= !encoder_.has(output_index(i, r));
    if (!is_missing || with_pixels_.contains(packed_images_[i].task)) continue;
    copy_out_pixels_of(packed_images_[i], streams.out);
    is_any_missing = true;
  }
  if (!is_any_missing) return;
  ECKART_CUDA_CHECK(cudaEventRecord(copied_out_.get(), streams.out));
  wait();
}

void Slot::wait() const {
  const ProfilerRange range("wait");
  ECKART_CUDA_CHECK(cudaEventSynchronize(copied_out_.get()));
}

void Slot::copy_to_outputs() const {
  const ProfilerRange range("copy to images");
  for (std::size_t i = 0; i < packed_images_.size(); ++i) {
    const TaskPlane& image = packed_images_[i];
    Task& task = *image.task;
    const bool is_encoded = encoder_.is_used() && !with_pixels_.contains(&task);
    task.encoded_outputs.resize(is_encoded ? outputs() : 0);
    for (std::size_t r = 0; r < outputs(); ++r) {
      if (is_encoded) {
        task.encoded_outputs[r] = encoder_.output(output_index(i, r));
      } else {
        std::memcpy(task.outputs[r].data(),
                    outputs_.host.as<>() + r * packed_bytes_ + image.plane.offset_bytes,
                    task.input.bytes());
      }
    }
  }
}

}  // namespace eckart::compute::cuda
