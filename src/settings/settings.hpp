#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/color_mode.hpp"
#include "core/factors.hpp"
#include "core/gpu_memory.hpp"
#include "core/image_format.hpp"
#include "core/image_limits.hpp"
#include "core/peak_choice.hpp"
#include "core/preparation.hpp"
#include "core/rank_policy.hpp"
#include "core/rank_spec.hpp"
#include "core/residual_choice.hpp"
#include "core/round_up.hpp"
#include "core/solver_kind.hpp"
#include "settings/choices.hpp"

namespace eckart::settings {

constexpr int kAuto = 0;  ///< `auto`: the program decides

struct InputSettings {
  Decoder decoder = Decoder::strict;
  AlphaPolicy alpha = AlphaPolicy::keep;
  bool gray = false;
  TargetSize size;
  Normalization normalize = Normalization::none;
};

struct OutputSettings {
  OutputFormat format = OutputFormat::png;
  std::string name;  ///< template of the file name; empty: the default for the number of ranks
  int jpeg_quality = EncodeOptions{}.jpeg_quality;
  int webp_quality = EncodeOptions{}.webp_quality;
  JpegSubsampling jpeg_subsampling = EncodeOptions{}.jpeg_subsampling;
  bool jpeg_progressive = EncodeOptions{}.jpeg_progressive;
  bool jpeg_optimize = EncodeOptions{}.jpeg_optimize;
  PngCompression png = EncodeOptions{}.png;
  MetadataPolicy metadata = MetadataPolicy::keep;
  OutputTimes times = OutputTimes::now;
  bool stamp = true;
  OutputPack pack = OutputPack::none;
  ResidualChoice residual;
  FactorType factors = FactorType::none;

  /// Whether there are outputs that are files.
  bool writes_files() const { return format != OutputFormat::none || factors != FactorType::none; }
};

struct QualitySettings {
  PeakChoice peak;
  MeasureChoice measure = MeasureChoice::automatic;
};

struct ThreadSettings {
  int load = kAuto;
  int write = kAuto;
};

struct BatchSettings {
  int planes = kAuto;
  int linger_ms = 20;
  int pad = kDefaultPadMultiple;
};

struct CpuSettings {
  int lanes = kAuto;
};

struct CudaSettings {
  std::vector<int> devices;  ///< empty: all
  int lanes = kAuto;
  double memory_fraction = kDefaultGpuMemoryFraction;
};

struct TimeoutSettings {
  int stall_s = 180;
  int shutdown_s = 120;
};

struct TelemetrySettings {
  std::string throughput_log;  ///< empty: none
  double interval_s = 10;
  int max_mb = 64;
  int keep = 4;
  std::string listen;  ///< 127.0.0.1:PORT, [::1]:PORT or an absolute socket path; empty: off
};

/// All settings of a run. key_table.cpp describes the keys and their allowed values.
struct Settings {
  BackendChoice backend = BackendChoice::automatic;
  SolverKind solver = SolverKind::automatic;
  Certificate certificate = Certificate::estimate;
  FileChoice calibration;                       ///< see calibration.hpp
  std::vector<RankPolicy> ranks{RankPolicy{}};  ///< not empty, and they differ
  ColorMode color = ColorMode::channels;
  std::optional<RankPolicy> chroma_rank;  ///< of ColorMode::ycbcr; nullopt: as `ranks`
  InputSettings input;
  OutputSettings output;
  ThreadSettings threads;
  BatchSettings batch;
  CpuSettings cpu;
  CudaSettings cuda;
  std::int64_t budget_mb = kAuto;
  ImageLimits limits;
  bool deterministic = false;
  Durability durability = Durability::group;
  bool wait_for_space = false;
  FileChoice ledger;
  LedgerIdentity ledger_identity = LedgerIdentity::mtime;
  TimeoutSettings timeouts;
  TelemetrySettings telemetry;
  QualitySettings quality;

  Preparation preparation() const {
    return {input.gray || color == ColorMode::gray, input.size, input.normalize};
  }
};

/// An error in one line: location ("eckart.yaml:7", "--set a.b=c"), key, found value, expected
/// value.
class SettingsError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A SettingsError about a rank. Other messages than what(), which is one line, can mark the first
/// wrong character.
class RankSettingError : public SettingsError {
 public:
  /// `place`: location and key, "eckart.yaml:7: rank".
  RankSettingError(const std::string& place, const RankSpecError& error);
  const std::string& place() const { return place_; }
  const RankSpecError& error() const { return error_; }

 private:
  std::string place_;
  RankSpecError error_;
};

/// Parses a text in the format of to_yaml(). Errors call it `name`. Throws SettingsError.
Settings parse_settings(const std::string& text, const std::string& name);

/// Applies one --set: "a.b=c", where c is YAML. If it throws SettingsError, `settings` is
/// unchanged.
void apply(Settings& settings, std::string_view assignment);

/// Throws std::invalid_argument if chroma_rank is set for a color mode without chroma matrices.
void check_chroma_rank(const Settings& settings);

/// Returns the keys whose values differ from Settings{}, with their values as YAML.
std::vector<std::pair<std::string, std::string>> changed(const Settings& settings);

/// Prints every key with one line of comment; load_configuration() reads the text back.
std::string to_yaml(const Settings& settings);

}  // namespace eckart::settings
