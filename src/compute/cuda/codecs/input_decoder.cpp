#include "compute/cuda/codecs/input_decoder.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <variant>

#include "compute/cuda/timing_event.hpp"
#include "core/instant.hpp"

namespace eckart::compute::cuda {
namespace {

/// An input of one format.
template <class Encoded>
struct Found {
  const DeviceInput* input;
  const Encoded* encoded;
};

template <class Encoded>
std::vector<Found<Encoded>> find(std::span<const DeviceInput> inputs) {
  std::vector<Found<Encoded>> found;
  for (const DeviceInput& input : inputs) {
    if (const auto* encoded = std::get_if<Encoded>(&input.task->encoded_input->image()))
      found.push_back({&input, encoded});
  }
  return found;
}

std::size_t data_bytes(const codec::jpeg::EncodedImage& image) { return image.data.size(); }
std::size_t data_bytes(const codec::png::EncodedImage& image) { return padded_stream_bytes(image); }

ImageFormat format_of(const codec::jpeg::EncodedImage&) { return ImageFormat::jpeg; }
ImageFormat format_of(const codec::png::EncodedImage&) { return ImageFormat::png; }

void copy_data(const codec::jpeg::EncodedImage& image, std::byte* to) {
  std::memcpy(to, image.data.data(), image.data.size());
}
void copy_data(const codec::png::EncodedImage& image, std::byte* to) { copy_stream(image, to); }

/// Copies the data of all inputs, one after the other, and calls take(input, encoded, offset) for
/// each. Returns their size.
template <class Encoded, class Take>
std::size_t copy_all_data(std::span<const DeviceInput> inputs, PinnedBuffer& to, const Take& take) {
  const std::vector<Found<Encoded>> found = find<Encoded>(inputs);
  std::size_t size = 0;
  for (const auto& [input, encoded] : found) size += data_bytes(*encoded);
  to.reserve_with_room(size);
  std::size_t offset = 0;
  for (const auto& [input, encoded] : found) {
    copy_data(*encoded, to.as<>() + offset);
    take(*input, *encoded, offset);
    offset += data_bytes(*encoded);
  }
  return size;
}

/// The time of the image that takes longest.
template <class Encoded>
double longest_built_in_s(std::span<const DeviceInput> inputs) {
  double longest = 0;
  for (const auto& [input, encoded] : find<Encoded>(inputs)) {
    const DecodingRate rate =
        built_in_decoding_rate(format_of(*encoded), input->task->input.shape());
    longest = std::max(longest, rate.s(data_bytes(*encoded)));
  }
  return longest;
}

}  // namespace

template <class Batch, class Decoder>
void InputDecoder::Format<Batch, Decoder>::decode(std::byte* pixels, cudaStream_t stream) {
  if (tasks.empty()) return;
  if (!begin) begin = make_timing_event();
  if (!end) end = make_timing_event();
  ECKART_CUDA_CHECK(cudaEventRecord(begin.get(), stream));
  decoder.decode(batch, data.template as<>(), pixels, stream);
  ECKART_CUDA_CHECK(cudaEventRecord(end.get(), stream));
  ++batches;
}

template <class Batch, class Decoder>
void InputDecoder::Format<Batch, Decoder>::add_undecodable(std::vector<Task*>& to) const {
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const auto irregularity = decoder.irregularities()[i];
    if (irregularity != decltype(irregularity)::none) to.push_back(tasks[i]);
  }
}

void InputDecoder::plan(std::span<const DeviceInput> inputs, std::size_t pixels_bytes) {
  plan_jpegs(inputs, pixels_bytes);
  plan_pngs(inputs, pixels_bytes);
}

void InputDecoder::plan_jpegs(std::span<const DeviceInput> inputs, std::size_t pixels_bytes) {
  jpegs_.tasks.clear();
  std::vector<JpegInput> found;
  const std::size_t bytes = copy_all_data<codec::jpeg::EncodedImage>(
      inputs, jpegs_.data,
      [&](const DeviceInput& input, const codec::jpeg::EncodedImage& image, std::size_t offset) {
        jpegs_.tasks.push_back(input.task);
        found.push_back({.header = &image.header,
                         .data_offset = offset,
                         .data_bytes = image.data_bytes,
                         .pixels_offset = input.pixels});
      });
  jpegs_.built_in_s = longest_built_in_s<codec::jpeg::EncodedImage>(inputs);
  jpegs_.batch = found.empty() ? JpegBatch() : plan_jpeg_batch(found, bytes, pixels_bytes);
}

void InputDecoder::plan_pngs(std::span<const DeviceInput> inputs, std::size_t pixels_bytes) {
  pngs_.tasks.clear();
  std::vector<PngInput> found;
  const std::size_t bytes = copy_all_data<codec::png::EncodedImage>(
      inputs, pngs_.data,
      [&](const DeviceInput& input, const codec::png::EncodedImage& image, std::size_t offset) {
        pngs_.tasks.push_back(input.task);
        found.push_back({.shape = image.shape,
                         .stream_offset = offset,
                         .stream_bytes = image.stream_bytes,
                         .pixels_offset = input.pixels});
      });
  pngs_.built_in_s = longest_built_in_s<codec::png::EncodedImage>(inputs);
  pngs_.batch = plan_png_input_batch(found, bytes, pixels_bytes);
}

void InputDecoder::decode(std::byte* pixels, cudaStream_t stream) {
  jpegs_.decode(pixels, stream);
  pngs_.decode(pixels, stream);
}

std::vector<Task*> InputDecoder::undecodable() const {
  std::vector<Task*> tasks;
  jpegs_.add_undecodable(tasks);
  pngs_.add_undecodable(tasks);
  return tasks;
}

void InputDecoder::add_times(DecodingRates& rates) const {
  const auto add = [&](ImageFormat format, const auto& inputs) {
    if (inputs.tasks.empty() || inputs.batches < 2) return;
    const std::chrono::duration<double> time = elapsed(inputs.begin, inputs.end);
    rates.add_batch(format, inputs.built_in_s, time.count(), Clock::now());
  };
  add(ImageFormat::jpeg, jpegs_);
  add(ImageFormat::png, pngs_);
}

}  // namespace eckart::compute::cuda
