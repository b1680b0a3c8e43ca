#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "compute/backend.hpp"
#include "compute/cuda/codecs/jpeg_decoder.hpp"
#include "compute/cuda/codecs/png_decoder.hpp"
#include "compute/cuda/layout/jpeg_batch.hpp"
#include "compute/cuda/layout/png_input_batch.hpp"
#include "compute/cuda/plan/decoding_rates.hpp"
#include "compute/cuda/raii.hpp"

namespace eckart::compute::cuda {

/// An image of a batch whose pixels are not known on the host.
struct DeviceInput {
  Task* task;          ///< has an `encoded_input`, which must stay
  std::size_t pixels;  ///< offset of its samples, in bytes
};

/// Decodes the inputs of batches on the GPU. Single-threaded. Throws as check() does.
class InputDecoder {
 public:
  /// Prepares a batch: copies what is needed of its inputs to pinned memory, which must be free.
  /// `pixels_bytes`: of all pixels.
  void plan(std::span<const DeviceInput> inputs, std::size_t pixels_bytes);
  /// Whether the planned batch has inputs.
  bool is_used() const { return !jpegs_.tasks.empty() || !pngs_.tasks.empty(); }
  /// Queues the decoding of the planned batch to `pixels` in device memory.
  void decode(std::byte* pixels, cudaStream_t stream);
  /// After the work is done: the tasks whose pixels are not valid. The CPU has to decode these.
  std::vector<Task*> undecodable() const;

  /// After the work is done: adds how long the batch took, unless it was the first one of its
  /// format, for which kernels were loaded and memory was allocated.
  void add_times(DecodingRates& rates) const;

  void free_memory() { *this = {}; }

 private:
  /// The inputs of one format.
  template <class Batch, class Decoder>
  struct Format {
    std::vector<Task*> tasks;
    Batch batch;
    PinnedBuffer data;
    Decoder decoder;
    double built_in_s = 0;  ///< see DecodingRates::add_batch()
    Event begin, end;       ///< of decoding
    int batches = 0;        ///< that were decoded
    void decode(std::byte* pixels, cudaStream_t stream);
    void add_undecodable(std::vector<Task*>& to) const;
  };

  void plan_jpegs(std::span<const DeviceInput> inputs, std::size_t pixels_bytes);
  void plan_pngs(std::span<const DeviceInput> inputs, std::size_t pixels_bytes);

  Format<JpegBatch, JpegDecoder> jpegs_;
  Format<PngInputBatch, PngDecoder> pngs_;
};

}  // namespace eckart::compute::cuda
