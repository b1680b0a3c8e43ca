#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/gpu_memory.hpp"
#include "core/image_format.hpp"
#include "core/image_limits.hpp"
#include "core/rank_policy.hpp"
#include "core/round_up.hpp"
#include "core/solver_kind.hpp"
#include "settings/choices.hpp"

namespace eckart::settings {

constexpr int kAuto = 0;  ///< `auto`: the program decides

struct InputSettings {
  Decoder decoder = Decoder::strict;
};

struct OutputSettings {
  ImageFormat format = ImageFormat::png;
  std::string name;  ///< template of the file's name; empty: the default, as the ranks need it
  int jpeg_quality = EncodeOptions{}.jpeg_quality;
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
  std::string listen;  ///< 127.0.0.1:PORT, [::1]:PORT or a socket's absolute path; empty: nowhere
};

/// Everything a run can be told; what the keys mean and may be is in key_table.cpp.
struct Settings {
  BackendChoice backend = BackendChoice::automatic;
  SolverKind solver = SolverKind::automatic;
  Certificate certificate = Certificate::estimate;
  FileChoice calibration;                      ///< see calibration.hpp
  std::string rank = to_string(RankPolicy{});  ///< SPEC[,SPEC...], as parse_ranks reads it
  InputSettings input;
  OutputSettings output;
  ThreadSettings threads;
  BatchSettings batch;
  CpuSettings cpu;
  CudaSettings cuda;
  std::int64_t budget_mb = 2048;
  ImageLimits limits;
  bool deterministic = false;
  Durability durability = Durability::group;
  bool wait_for_space = false;
  FileChoice ledger;
  LedgerIdentity ledger_identity = LedgerIdentity::mtime;
  TimeoutSettings timeouts;
  TelemetrySettings telemetry;
};

/// One line: where ("eckart.yaml:7", "--set a.b=c"), which key, what was found, what was expected.
class SettingsError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Of a text as to_yaml() makes it, which errors call `name`. Throws SettingsError.
Settings parse_settings(const std::string& text, const std::string& name);

/// Applies one --set: "a.b=c", with c in YAML. Throws SettingsError and then changes nothing.
void apply(Settings& settings, std::string_view assignment);

/// What is not as in Settings{}: keys and their values as YAML.
std::vector<std::pair<std::string, std::string>> changed(const Settings& settings);

/// Every key with a line of comment; load_configuration() reads the same settings back.
std::string to_yaml(const Settings& settings);

}  // namespace eckart::settings
