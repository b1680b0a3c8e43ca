#include "settings/key_table.hpp"

#include <algorithm>
#include <utility>

#include "settings/value_types.hpp"
#include "text/closest_word.hpp"

namespace eckart::settings {
namespace {

SettingKey<Settings> per_watch(SettingKey<Settings> key) {
  key.per_watch = true;
  return key;
}

SettingKey<Settings> ledger_file_key() {
  SettingKey<Settings> file =
      per_watch(key("ledger.file", "database of finished outputs; auto: OUT/.eckart/ledger.db",
                    AutoNoneOrFile{}, &Settings::ledger));
  // Compatibility: versions without ledger.identity used `ledger: FILE`.
  file.is_section_shorthand = true;
  return file;
}

std::string_view last_name(std::string_view path) { return path.substr(path.rfind('.') + 1); }

/// A correct name in the wrong section has the distance 1.
std::size_t key_distance(std::string_view path, std::string_view candidate) {
  return std::min(text::edit_distance(path, candidate),
                  text::edit_distance(last_name(path), last_name(candidate)) + 1);
}

}  // namespace

std::string_view section_of(std::string_view path) {
  const std::size_t dot = path.find('.');
  return dot == std::string_view::npos ? std::string_view{} : path.substr(0, dot);
}

const KeyTable<Settings>& settings_table() {
  using S = Settings;
  static const KeyTable<Settings> table({
      key("backend", "backend that computes the SVD", Choice<BackendChoice>{}, &S::backend),
      key("solver", "SVD algorithm", Choice<SolverKind>{}, &S::solver),
      key("certificate",
          "how a loss of at most 0.01 dB is shown; bound: by a proof, which is slower",
          Choice<Certificate>{}, &S::certificate),
      key("calibration", "measured costs for solver: auto; none: built-in costs", AutoNoneOrFile{},
          &S::calibration),
      per_watch(key("rank", "how the rank is chosen; a list writes one output for each element",
                    RankList{}, &S::ranks)),
      per_watch(key("color",
                    "matrices of a color image: its channels, luma (chroma stays as it is), ycbcr, "
                    "joint (channels side by side), or gray",
                    Choice<ColorMode>{}, &S::color)),
      per_watch(key("chroma_rank", "rank of Cb and Cr with color: ycbcr; empty: that of rank",
                    OptionalRank{}, &S::chroma_rank)),
      per_watch(key("input.decoder", "decoder of inputs; opencv also accepts damaged files",
                    Choice<Decoder>{}, &S::input, &InputSettings::decoder)),
      per_watch(key("input.alpha",
                    "transparent images: keep their alpha, compose on white, or fail",
                    Choice<AlphaPolicy>{}, &S::input, &InputSettings::alpha)),
      per_watch(key("input.gray", "convert color images to gray before the decomposition",
                    Boolean{}, &S::input, &InputSettings::gray)),
      per_watch(key("input.size",
                    "resize images with Lanczos: WIDTHxHEIGHT, or max:N for the longer side; "
                    "empty: keep their size",
                    TargetSizeText{}, &S::input, &InputSettings::size)),
      per_watch(key("input.normalize",
                    "minmax: map the samples of each image to the whole range of its depth",
                    Choice<Normalization>{}, &S::input, &InputSettings::normalize)),
      per_watch(key("output.format", "output file format; none: outputs are measured, not written",
                    Choice<OutputFormat>{}, &S::output, &OutputSettings::format)),
      per_watch(key("output.name",
                    "output file name pattern; empty: {stem}.{ext}, or {stem}.{label}.{ext} for "
                    "several ranks",
                    OutputNamePattern{}, &S::output, &OutputSettings::name)),
      per_watch(key("output.jpeg_quality", "JPEG quality of outputs", Integer{1, 100}, &S::output,
                    &OutputSettings::jpeg_quality)),
      per_watch(key("output.webp_quality", "WebP quality of outputs", WebpQuality{}, &S::output,
                    &OutputSettings::webp_quality)),
      per_watch(key("output.jpeg_subsampling",
                    "chroma of JPEG outputs; keep: as a JPEG input has it, otherwise 4:4:4",
                    Choice<JpegSubsampling>{}, &S::output, &OutputSettings::jpeg_subsampling)),
      per_watch(key("output.jpeg_progressive", "JPEG outputs are progressive", Boolean{},
                    &S::output, &OutputSettings::jpeg_progressive)),
      per_watch(key("output.jpeg_optimize", "smaller JPEG outputs, which take longer", Boolean{},
                    &S::output, &OutputSettings::jpeg_optimize)),
      per_watch(key("output.png", "compression of PNG outputs; small takes 60 to 105 times as long",
                    Choice<PngCompression>{}, &S::output, &OutputSettings::png)),
      per_watch(key("output.metadata",
                    "metadata of inputs that outputs keep; icc: only what colors depend on",
                    Choice<MetadataPolicy>{}, &S::output, &OutputSettings::metadata)),
      per_watch(key("output.times", "modification times of outputs; keep: those of the inputs",
                    Choice<OutputTimes>{}, &S::output, &OutputSettings::times)),
      per_watch(key("output.stamp", "write rank and version into outputs", Boolean{}, &S::output,
                    &OutputSettings::stamp)),
      key("output.pack",
          "tar: the outputs of a shard go to one tar archive, with an index and report",
          Choice<OutputPack>{}, &S::output, &OutputSettings::pack),
      per_watch(key("output.residual",
                    "also write input - output, around half of the range: none, or its gain; auto: "
                    "the largest that clips nothing",
                    ResidualValue{}, &S::output, &OutputSettings::residual)),
      per_watch(key("output.factors",
                    "also write the singular triplets (U, s, Vt) of each input to a .npz file, in "
                    "this type",
                    Choice<FactorType>{}, &S::output, &OutputSettings::factors)),
      per_watch(key("quality.peak", "peak of PSNR and SSIM", PeakValue{}, &S::quality,
                    &QualitySettings::peak)),
      per_watch(key("quality.measure",
                    "what to measure of outputs; full: SSIM and errors too, as auto does with "
                    "--report or without files",
                    Choice<MeasureChoice>{}, &S::quality, &QualitySettings::measure)),
      key("threads.load", "threads that read and decode", auto_or_integer(1, 1024), &S::threads,
          &ThreadSettings::load),
      key("threads.write", "threads that encode and write", auto_or_integer(1, 1024), &S::threads,
          &ThreadSettings::write),
      key("batch.planes", "planes per batch", auto_or_integer(1, 65536), &S::batch,
          &BatchSettings::planes),
      key("batch.linger_ms",
          "time a batch waits for more planes; longer while others wait for the backend",
          Integer{0, 60000}, &S::batch, &BatchSettings::linger_ms),
      key("batch.pad", "plane sides are padded to a multiple of this", Integer{1, 1024}, &S::batch,
          &BatchSettings::pad),
      key("cpu.lanes", "threads that compute on the CPU", auto_or_integer(1, 512), &S::cpu,
          &CpuSettings::lanes),
      key("cuda.devices", "GPUs to use, as in [0, 1]", DeviceList{}, &S::cuda,
          &CudaSettings::devices),
      key("cuda.lanes", "lanes (batches in flight) on the GPUs", auto_or_integer(1, 1024), &S::cuda,
          &CudaSettings::lanes),
      key("cuda.memory_fraction", "fraction of each GPU's memory to use", Number{0.01, 1}, &S::cuda,
          &CudaSettings::memory_fraction),
      key("budget_mb", "MiB of memory for files, decoders and pixels in flight",
          auto_or_integer(1, 16777216), &S::budget_mb),
      per_watch(key("limits.pixels", "maximum rows x columns of an image",
                    Integer{1, 1000000000000}, &S::limits, &ImageLimits::pixels)),
      per_watch(key("limits.side", "maximum rows or columns of an image", Integer{1, 1000000},
                    &S::limits, &ImageLimits::side)),
      per_watch(key("limits.file_mb", "maximum MiB of an input file", Integer{1, 1048576},
                    &S::limits, &ImageLimits::file_mb)),
      per_watch(key("limits.decode_mb", "maximum MiB of memory to decode an image",
                    Integer{1, 16777216}, &S::limits, &ImageLimits::decode_mb)),
      per_watch(key("limits.decode_s", "maximum CPU seconds to decode an image", Integer{1, 86400},
                    &S::limits, &ImageLimits::decode_s)),
      key("deterministic", "identical output bytes whatever the batch, also on CUDA", Boolean{},
          &S::deterministic),
      per_watch(key("durability", "fsync of outputs: in groups, per file, or none",
                    Choice<Durability>{}, &S::durability)),
      key("wait_for_space", "on a full disk wait for space instead of exiting with 74", Boolean{},
          &S::wait_for_space),
      ledger_file_key(),
      per_watch(key("ledger.identity",
                    "identify a moved or copied input by modification time or by content",
                    Choice<LedgerIdentity>{}, &S::ledger_identity)),
      key("timeouts.stall_s", "time beyond the expected duration after which a stage has stalled",
          Integer{1, 86400}, &S::timeouts, &TimeoutSettings::stall_s),
      key("timeouts.shutdown_s", "time after the first stop signal until running work is abandoned",
          Integer{1, 86400}, &S::timeouts, &TimeoutSettings::shutdown_s),
      key("telemetry.throughput_log", "JSON lines file for eckart plan; empty: none", FileOrEmpty{},
          &S::telemetry, &TelemetrySettings::throughput_log),
      key("telemetry.interval_s", "seconds between lines of the throughput log", Number{0.1, 86400},
          &S::telemetry, &TelemetrySettings::interval_s),
      key("telemetry.max_mb", "MiB at which the throughput log is rotated", Integer{1, 1048576},
          &S::telemetry, &TelemetrySettings::max_mb),
      key("telemetry.keep", "rotated throughput logs to keep", Integer{0, 1000}, &S::telemetry,
          &TelemetrySettings::keep),
      key("telemetry.listen",
          "address of the status page and metrics, such as 127.0.0.1:9464; empty: disabled",
          ListenAddress{}, &S::telemetry, &TelemetrySettings::listen),
  });
  return table;
}

std::string_view nearest_key(const std::vector<std::string_view>& keys, std::string_view path) {
  constexpr std::size_t kMaxKeyLength = 64;  // longer keys get no suggestion
  if (path.size() > kMaxKeyLength) return {};
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(2, last_name(path).size() / 3);
  for (const std::string_view key : keys) {
    for (const std::string_view candidate : {section_of(key), key}) {
      if (candidate.empty()) continue;
      const std::size_t steps = key_distance(path, candidate);
      if (steps < best_distance || (best.empty() && steps == best_distance)) {
        best = candidate;
        best_distance = steps;
      }
    }
  }
  return best;
}

}  // namespace eckart::settings
