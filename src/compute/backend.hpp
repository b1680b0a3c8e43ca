#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "codec/jpeg/encoded_image.hpp"
#include "codec/png/encoded_image.hpp"
#include "compute/device_span.hpp"
#include "compute/out_of_memory.hpp"
#include "core/byte_buffer.hpp"
#include "core/factors.hpp"
#include "core/gpu_memory.hpp"
#include "core/image.hpp"
#include "core/image_format.hpp"
#include "core/outcome.hpp"
#include "core/output_encoding.hpp"
#include "core/rank_policy.hpp"
#include "core/solver_costs.hpp"
#include "core/solver_kind.hpp"
#include "preparation/resizer.hpp"

namespace eckart::compute {

/// The result of one plane at one rank.
struct PlaneResult {
  int rank = 0;
  double energy = 0;         ///< sum_{i<=rank} sigma_i^2 / ||A||_F^2
  double squared_norm = 0;   ///< ||A||_F^2, in levels^2; 0 if no triplets are known
  double residual = 0;       ///< squared error before clamping and rounding
  double squared_error = 0;  ///< squared error of the pixels written
  /// Estimated loss of PSNR before rounding against the optimum, with a safety margin. 0 if every
  /// written pixel equals the input's.
  double loss_estimate_db = 0;
  /// Proven bound of the same loss. Set by every complete decomposition in float64, and by all
  /// solvers with Certificate::bound; otherwise NaN. Infinity if nothing could be proven.
  double loss_bound_db = std::numeric_limits<double>::quiet_NaN();
  bool is_recomputed = false;    ///< the first solver did not certify this plane
  bool is_from_factors = false;  ///< made of Task::known_factors
  /// The largest singular value, in levels; NaN if unknown.
  double sigma1 = std::numeric_limits<double>::quiet_NaN();
  /// The smallest singular value that is kept, in levels; NaN if unknown.
  double sigma_threshold = std::numeric_limits<double>::quiet_NaN();
  std::optional<SolverKind> solver = {};  ///< that computed this plane; none if unknown

  /// Whether the loss is at most kMaxLossDb, as the certificate asks for it.
  bool is_certified(Certificate certificate) const;
};

/// An image that a backend may decode.
class EncodedInput {
 public:
  using EncodedImage = std::variant<codec::jpeg::EncodedImage, codec::png::EncodedImage>;
  /// Decodes a file on the CPU. Throws ItemError.
  using Decode = std::function<Image(std::span<const std::byte> file)>;

  /// `image` may refer to the bytes of the file.
  EncodedInput(ByteBuffer file, EncodedImage image, Decode decode)
      : file_(std::move(file)), image_(std::move(image)), decode_(std::move(decode)) {}
  EncodedInput(const EncodedInput&) = delete;
  EncodedInput& operator=(const EncodedInput&) = delete;

  const EncodedImage& image() const { return image_; }
  /// Decodes the file on the CPU. Throws ItemError.
  Image decode() const { return decode_(file_); }

 private:
  ByteBuffer file_;
  EncodedImage image_;
  Decode decode_;
};

/// One image to compute: `input` and, for each rank policy, one output of the same shape and the
/// results of its planes.
struct Task {
  Image input;
  /// If set, `input` has a shape, and its samples are not set on the host: they are those of this
  /// image. Who needs them there calls decode_input().
  std::shared_ptr<const EncodedInput> encoded_input = {};
  std::vector<RankPolicy> ranks;  ///< one per output; resolved, see resolve()
  /// If set: of all channels but the first, in every output; resolved. Each part then has its own
  /// ranks.
  std::optional<RankPolicy> chroma_rank = {};
  std::vector<Image> outputs;                     ///< one per rank policy; allocated by the caller
  std::vector<std::vector<PlaneResult>> results;  ///< [output][channel]; allocated by the caller
  double peak = 255;                              ///< of PSNR targets, in levels
  /// The distance of the values that samples are rounded to in the end, in levels.
  double rounding_step = 1;
  /// Whether `spectra` are wanted. Such a task is computed by a complete decomposition.
  bool wants_spectrum = false;
  /// [channel] all min(rows, cols) singular values, decreasing, in levels. Values below the
  /// resolution of A'A in float64, sqrt(min(rows, cols) * 2.3e-16) ||A||_F, are 0. Set by the
  /// backend if `wants_spectrum`.
  std::vector<std::vector<double>> spectra;
  /// If set, `factors` are wanted. If it is above 0, all singular triplets up to this rank are
  /// computed, by a complete decomposition, even if no output has this rank; then there may be no
  /// output.
  std::optional<int> min_factor_rank = {};
  /// [channel] the triplets up to the largest rank of the outputs and `min_factor_rank`, in levels.
  /// Set by the backend if `min_factor_rank` is set.
  std::vector<Factors> factors;
  /// [channel] if not empty, the outputs are made of these triplets. An output of the kind `full`
  /// has all of them.
  std::vector<Factors> known_factors;
  /// If set, the samples of `input` are known besides `known_factors`, whose outputs have at most
  /// this loss estimate. If these triplets do not suffice for a certified output, the backend
  /// clears them and decomposes the image. If not set, the samples are unknown, and such a task
  /// fails.
  std::optional<double> known_loss_db = {};
  /// If set, the backend may set `encoded_outputs` instead of pixels.
  std::optional<OutputEncoding> encoding = {};
  /// [output] empty if all outputs have pixels. The pixels of an encoded output are not set.
  std::vector<EncodedOutput> encoded_outputs;
  bool is_cpu_only = false;  ///< the image must not be computed on a GPU
  bool is_canceled = false;  ///< a stop was requested; the results are not valid
  std::string error;         ///< why the image has no result; empty on success
  FailureReason reason = FailureReason::not_converged;  ///< the kind of `error`
  Stage failed_stage = Stage::compute;                  ///< load: the input cannot be decoded
};

/// Sets the samples of Task::input if they are not set. Throws ItemError.
void decode_input(Task& task);
/// As decode_input(), but sets Task::error. Returns whether the samples are set.
bool try_decode_input(Task& task);

/// Consecutive channels of an image whose ranks are chosen together.
struct ChannelGroup {
  int first = 0;
  int count = 0;
};
/// All channels, or the first and the others if these have their own rank.
std::vector<ChannelGroup> channel_groups(int channels, bool has_chroma_rank);
std::vector<ChannelGroup> channel_groups(const Task& task);
/// The policy of a channel.
const RankPolicy& rank_policy(const Task& task, std::size_t output, int channel);

/// The shape that all planes of a batch are padded to with zeros, rows >= cols. A wide plane is
/// transposed first. Padding only adds singular values of zero.
struct PaddedShape {
  int rows = 0;
  int cols = 0;
  friend auto operator<=>(const PaddedShape&, const PaddedShape&) = default;
};
PaddedShape padded_shape(const ImageShape& shape, int multiple);

/// What all tasks of a batch share.
struct BatchKey {
  PaddedShape shape;
  std::vector<RankPolicy> ranks;  ///< of the outputs, and that of factors if no output has it
  std::optional<RankPolicy> chroma_rank = {};
  bool wants_spectrum = false;
  bool has_float_samples = false;
  std::optional<int> min_factor_rank = {};      ///< see Task::min_factor_rank
  std::optional<OutputEncoding> encoding = {};  ///< see Task::encoding

  /// Whether the last of `ranks` is only that of factors: no output has it.
  bool has_factor_rank() const { return min_factor_rank.value_or(0) > 0; }
  /// Whether planes may differ in rank, other than by their shape.
  bool has_plane_ranks() const;
  /// The largest rank of an output that a plane of `shape` can have.
  int max_rank(std::size_t output) const;
  friend auto operator<=>(const BatchKey&, const BatchKey&) = default;
};
/// The key of the task with its planes padded to a multiple of `multiple` rows and columns.
BatchKey batch_key(const Task& task, int multiple);

/// The variables that the time of a batch depends on.
struct BatchWorkload {
  PaddedShape shape;
  int rank;     ///< the largest rank
  int columns;  ///< columns of subspace iteration
  int planes;   ///< planes in a full batch
  /// Subspace iteration would use float64, as CUDA does for many columns and for float samples.
  bool is_float64 = false;
  friend auto operator<=>(const BatchWorkload&, const BatchWorkload&) = default;
};

/// The solver for one kind of batch, with an explanation for people.
struct SolverChoice {
  BatchWorkload batch;
  SolverKind solver;
  std::string explanation;
};

/// One stream of work through a backend. Created, used and destroyed on one thread.
///
/// A lane has slots() slots. start() takes up to Backend::batch_planes() planes into a free slot
/// and may return before the work is done. finish() waits for it. The tasks must stay alive and
/// unchanged between the two calls. With two slots a lane computes one batch while the caller fills
/// or empties the other.
///
/// If a single image fails, its Task::error is set. start() and finish() throw DeviceLostError if
/// the backend is lost, and another std::exception if the whole batch failed; the slot is then free
/// again. OutOfMemory is one of these: start() throws it if the batch is too large, finish() if
/// recomputing some of the planes needs too much memory.
class Lane {
 public:
  virtual ~Lane() = default;
  virtual int slots() const = 0;
  virtual void start(int slot, const BatchKey& key, std::span<Task* const> tasks) = 0;
  virtual void finish(int slot) = 0;
  /// Call this before start(). After a stop request, a lane that computes for a long time may stop
  /// between two planes and set Task::is_canceled.
  virtual void set_stop_token(const std::stop_token& /*stop*/) {}
  /// Returns the spans of the batches finished since the last call, in order of time for each kind.
  /// Empty unless BackendOptions::trace is set and the device has a clock.
  virtual std::vector<DeviceSpan> take_spans() { return {}; }
};

/// Where images were computed, and what was done because GPU memory ran out.
struct FallbackCounts {
  std::int64_t gpu_images = 0;           ///< images computed on a GPU
  std::int64_t oom_splits = 0;           ///< batches that were split in two
  std::int64_t cpu_fallback_images = 0;  ///< images computed on the CPU instead
};

/// How a backend decodes inputs of a format: many at once, each in a time that the number of others
/// hardly changes.
struct DecodingRate {
  std::int64_t max_images = 0;  ///< that it decodes at once; 0: it decodes none
  double s_per_image = 0;       ///< seconds for an image,
  double s_per_byte = 0;        ///< and for each byte of it

  double s(std::size_t bytes) const { return s_per_image + s_per_byte * double(bytes); }
};

/// A way to compute. Thread-safe: several threads may create lanes and query it at the same time.
class Backend {
 public:
  virtual ~Backend() = default;
  /// "cpu", "cuda" or "checked".
  virtual std::string name() const = 0;
  /// The name of the CPU or GPU. Measured costs are stored under this name.
  virtual std::string device_name() const { return {}; }
  /// One line for people: devices, solver, precision.
  virtual std::string description() const = 0;
  /// The number of lanes that this machine can use, at least 1.
  virtual int lanes() const = 0;
  /// PCI bus IDs of the GPUs in use. Lane i is on GPU i modulo their number.
  virtual std::vector<std::string> gpu_bus_ids() const { return {}; }
  virtual FallbackCounts fallback_counts() const { return {}; }
  /// The number of planes that a batch of this kind should have, at least 1. An image with more
  /// channels than this is a batch by itself.
  virtual int batch_planes(const BatchKey& key) const = 0;
  /// Requires 0 <= index < lanes(). Throws FatalError, or OutOfMemory if creating the lane may
  /// succeed later.
  virtual std::unique_ptr<Lane> make_lane(int index) = 0;
  /// Creates a lane on the GPU of this index in gpu_bus_ids(). Throws if that is not possible,
  /// and never computes elsewhere: the lane shows whether that GPU works.
  virtual std::unique_ptr<Lane> make_gpu_lane(int gpu) { return make_lane(gpu); }
  /// How the lanes decode a Task::encoded_input of this format and shape.
  virtual DecodingRate decoding_rate(ImageFormat /*format*/, const ImageShape& /*shape*/) const {
    return {};
  }
  /// Resizes images on the GPUs; null if images are resized on the CPU. It lives as long as the
  /// backend.
  virtual preparation::Resizer* resizer() const { return nullptr; }
  /// The solver for each shape and rank seen so far, the largest shape first.
  virtual std::vector<SolverChoice> solver_choices() const { return {}; }
  /// Lines for `eckart doctor`: devices, memory, driver, libraries.
  virtual std::vector<std::string> details() const { return {}; }
  /// Lines for the summary of a run; usually empty.
  virtual std::vector<std::string> warnings() const { return {}; }
};

/// Settings of a backend.
struct BackendOptions {
  SolverKind solver = SolverKind::automatic;
  Certificate certificate = Certificate::estimate;
  /// On CUDA, an image's output bytes do not depend on the other images of its batch. On the CPU
  /// they never do.
  bool deterministic = false;
  int lanes = 0;                  ///< 0: the backend decides
  int batch_planes = 0;           ///< planes per batch; 0: the backend decides by shape
  std::vector<int> devices = {};  ///< GPU numbers; empty: all
  /// The share of a GPU's memory for all lanes on it.
  double memory_fraction = kDefaultGpuMemoryFraction;
  bool trace = false;            ///< lanes record device spans for take_spans()
  Calibration calibration = {};  ///< measured costs; built-in costs are used for other devices
};

}  // namespace eckart::compute
