#include "capacity/throughput_log_reader.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "core/error.hpp"
#include "core/throughput_schema.hpp"
#include "text/format_count.hpp"

namespace eckart::capacity {
namespace {

using JsonLine = nlohmann::json;

constexpr std::size_t kMaxWarnings = 20;

/// The reason why a line cannot be used.
struct BadLine : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Returns the value of a key that may be null or absent.
template <typename T>
T value_or(const JsonLine& json, const char* key, T otherwise) {
  const auto found = json.find(key);
  if (found == json.end() || found->is_null()) return otherwise;
  return found->get<T>();
}

template <typename T>
T required_value(const JsonLine& json, const char* key) {
  if (!json.contains(key)) throw BadLine(fmt::format("has no key '{}'", key));
  return json.at(key).get<T>();
}

const JsonLine& array_or_empty(const JsonLine& json, const char* key) {
  static const JsonLine kNone = JsonLine::array();
  const auto found = json.find(key);
  return found == json.end() || found->is_null() ? kNone : *found;
}

/// Maximum plausible values. With these, sums over all lines and products with cores do not
/// overflow.
struct LogLimits {
  static constexpr double kCount = 1e15, kCores = 8192, kThreads = 65536, kSeconds = 1e10;
  static constexpr std::size_t kGpus = 1024;
};

double check_range(double min_value, double number, double max_value, const char* key) {
  if (!(min_value <= number && number <= max_value))
    throw BadLine(fmt::format("has an impossible value for '{}': {}", key, number));
  return number;
}

std::int64_t count_or_zero(const JsonLine& json, const char* key) {
  return std::int64_t(check_range(0, value_or(json, key, 0.0), LogLimits::kCount, key));
}

double seconds_or_zero(const JsonLine& json, const char* key) {
  constexpr double kRounding = 1e-6;  // tolerance for differences of two sums
  return std::max(0.0, check_range(-kRounding, value_or(json, key, 0.0), LogLimits::kSeconds, key));
}

LoggedRun parse_run(const JsonLine& json) {
  LoggedRun run;
  run.id = required_value<std::string>(json, "run");
  run.time = value_or<std::string>(json, "time", "");
  run.command = value_or<std::string>(json, "command", "run");
  run.host = value_or<std::string>(json, "host", "");
  run.cpu = value_or<std::string>(json, "cpu", "");
  run.backend = value_or<std::string>(json, "backend", "");
  run.device = value_or<std::string>(json, "device", "");
  run.cores =
      int(check_range(1, required_value<double>(json, "cores"), LogLimits::kCores, "cores"));
  run.startup_s = seconds_or_zero(json, "startup_s");
  for (const JsonLine& gpu : array_or_empty(json, "gpus")) {
    run.gpus.push_back(value_or<std::string>(gpu, "name", "GPU"));
  }
  if (run.gpus.size() > LogLimits::kGpus)
    throw BadLine(fmt::format("has too many GPUs: {}", run.gpus.size()));
  for (const auto& [key, value] : array_or_empty(json, "settings").items()) {
    run.settings[key] = value.is_string() ? value.get<std::string>() : value.dump();
  }
  return run;
}

StageSample parse_stage_sample(const JsonLine& json) {
  const auto name = required_value<std::string>(json, "name");
  const std::optional<Stage> stage = parse_stage(name);
  if (!stage) throw BadLine(fmt::format("has an unknown stage '{}'", name));
  const double busy_s = seconds_or_zero(json, "busy_s");
  return {.stage = *stage,
          .workers = int(check_range(0, required_value<double>(json, "workers"),
                                     LogLimits::kThreads, "workers")),
          .busy_s = busy_s,
          .cpu_s = seconds_or_zero(json, "cpu_s"),
          .images = count_or_zero(json, "images"),
          .thread_s = busy_s + seconds_or_zero(json, "waiting_for_input_s") +
                      seconds_or_zero(json, "blocked_s")};
}

GpuSample parse_gpu(const JsonLine& json, double interval_s) {
  GpuSample gpu;
  if (const auto busy = json.find("busy"); busy != json.end() && !busy->is_null()) {
    const double share = check_range(0, busy->get<double>(), 1 + 1e-6, "busy");
    gpu = {.busy_s = share * interval_s, .observed_s = interval_s};
  }
  if (const auto energy = json.find("energy_j"); energy != json.end() && !energy->is_null()) {
    gpu.energy_j = check_range(0, energy->get<double>(), LogLimits::kCount, "energy_j");
  }
  return gpu;
}

ThroughputSample parse_sample(const JsonLine& json) {
  for (const char* key : {"elapsed_s", "interval_s", "done"}) required_value<double>(json, key);
  ThroughputSample sample;
  sample.elapsed_s = seconds_or_zero(json, "elapsed_s");
  sample.interval_s = seconds_or_zero(json, "interval_s");
  sample.done = count_or_zero(json, "done");
  sample.failed = count_or_zero(json, "failed");
  sample.skipped = count_or_zero(json, "skipped");
  sample.unfinished = count_or_zero(json, "unfinished");
  sample.pixels = count_or_zero(json, "pixels");
  sample.input_bytes = count_or_zero(json, "input_bytes");
  sample.output_bytes = count_or_zero(json, "output_bytes");
  if (sample.images() > 0 && sample.interval_s <= 0)
    throw BadLine(
        fmt::format("has {} in an interval of 0 s", text::format_count(sample.images(), "image")));
  sample.cpu_s = seconds_or_zero(value_or(json, "process", JsonLine::object()), "cpu_s");
  const JsonLine end_to_end = value_or(json, "end_to_end_s", JsonLine::object());
  sample.in_system_count = count_or_zero(end_to_end, "count");
  sample.in_system_s = seconds_or_zero(end_to_end, "mean") * double(sample.in_system_count);
  for (const JsonLine& stage : array_or_empty(json, "stages"))
    sample.stages.push_back(parse_stage_sample(stage));
  for (const JsonLine& gpu : array_or_empty(json, "gpus"))
    sample.gpus.push_back(parse_gpu(gpu, sample.interval_s));
  return sample;
}

/// Sorts by time and removes duplicates, because the same file may be given twice.
void sort_by_time(std::vector<ThroughputSample>& intervals) {
  const auto same = [](const ThroughputSample& a, const ThroughputSample& b) {
    return a.elapsed_s == b.elapsed_s;
  };
  std::ranges::stable_sort(intervals, {}, &ThroughputSample::elapsed_s);
  intervals.erase(std::unique(intervals.begin(), intervals.end(), same), intervals.end());
}

/// Returns where the last line begins in text that has several lines without a newline. Lines of
/// older versions begin with "schema".
std::size_t last_line_start(const std::string& text) {
  std::size_t last = 0;
  for (const char* beginning : {R"({"kind":")", R"({"schema":")"}) {
    const std::size_t found = text.rfind(beginning);
    if (found != text.npos) last = std::max(last, found);
  }
  return last;
}

}  // namespace

ThroughputSample sum(const ThroughputSample& a, const ThroughputSample& b) {
  ThroughputSample combined = b;  // has the state at the end of `b`
  combined.interval_s += a.interval_s;
  combined.done += a.done;
  combined.failed += a.failed;
  combined.skipped += a.skipped;
  combined.pixels += a.pixels;
  combined.input_bytes += a.input_bytes;
  combined.output_bytes += a.output_bytes;
  combined.cpu_s += a.cpu_s;
  combined.in_system_s += a.in_system_s;
  combined.in_system_count += a.in_system_count;
  for (std::size_t i = 0; i < std::min(a.stages.size(), combined.stages.size()); ++i) {
    combined.stages[i].busy_s += a.stages[i].busy_s;
    combined.stages[i].cpu_s += a.stages[i].cpu_s;
    combined.stages[i].images += a.stages[i].images;
    combined.stages[i].thread_s += a.stages[i].thread_s;
  }
  if (combined.stages.empty()) combined.stages = a.stages;
  if (combined.gpus.empty()) combined.gpus = a.gpus;
  for (std::size_t i = 0; i < std::min(a.gpus.size(), b.gpus.size()); ++i) {
    GpuSample& gpu = combined.gpus[i];
    gpu.busy_s += a.gpus[i].busy_s;
    gpu.observed_s += a.gpus[i].observed_s;
    if (a.gpus[i].energy_j) gpu.energy_j = gpu.energy_j.value_or(0) + *a.gpus[i].energy_j;
  }
  return combined;
}

ThroughputSample LoggedRun::whole() const {
  if (total) return *total;
  ThroughputSample all;
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    all = i == 0 ? intervals[0] : sum(all, intervals[i]);
  }
  return all;
}

void ThroughputLogReader::parse_line(const std::string& line) {
  const JsonLine json = JsonLine::parse(line);
  if (!json.is_object()) throw BadLine("is not a JSON object");
  const auto schema = value_or<std::string>(json, "schema", "");
  if (schema.empty()) throw BadLine("is not part of a throughput log: it has no key 'schema'");
  if (schema != kThroughputSchema) {
    throw BadLine(fmt::format("has schema '{}', but this program reads only '{}'", schema,
                              kThroughputSchema));
  }
  const auto kind = required_value<std::string>(json, "kind");
  const auto id = required_value<std::string>(json, "run");
  if (kind == "run") {
    LoggedRun run_line = parse_run(json);
    LoggedRun& run = runs_[id];
    if (!run.id.empty()) return;  // repeated at the start of the next file
    run_line.intervals = std::move(run.intervals);
    run_line.total = std::move(run.total);
    run = std::move(run_line);
  } else if (kind == "interval") {
    ThroughputSample sample = parse_sample(json);
    runs_[id].intervals.push_back(std::move(sample));
  } else if (kind == "total") {
    runs_[id].total = parse_sample(json);
  }  // later versions of the schema may have other kinds
}

std::string ThroughputLogReader::line_error(const std::string& line, bool is_last) {
  try {
    parse_line(line);
    return {};
  } catch (const BadLine& error) {
    return error.what();
  } catch (const JsonLine::parse_error&) {
    // A killed run may leave an incomplete last line. The first line of the next run then continues
    // it.
    const std::size_t next = last_line_start(line);
    if (next > 0) return line_error(line.substr(next), is_last);
    return is_last ? "" : "is not JSON";
  } catch (const JsonLine::exception&) {
    return "has a value of the wrong type";
  }
}

void ThroughputLogReader::read(std::istream& lines, const std::string& name) {
  constexpr std::size_t kMaxLineBytes = 1 << 20;  // with 1,024 GPUs, a line has a quarter of it
  files_.push_back(name);
  std::vector<char> buffer(kMaxLineBytes + 1);
  for (int number = 1; lines.getline(buffer.data(), std::streamsize(buffer.size())); ++number) {
    const std::string line(buffer.data(), std::size_t(lines.gcount()) - (lines.eof() ? 0 : 1));
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    const bool is_cut = lines.eof();  // it has no newline
    const std::string error_text = line_error(line, is_cut);
    if (error_text.empty()) continue;
    if (warnings_.size() < kMaxWarnings) {
      warnings_.push_back(fmt::format("{}:{}: line ignored: it {}", name, number, error_text));
    } else if (warnings_.size() == kMaxWarnings) {
      warnings_.push_back("more lines were ignored; these warnings stop here");
    }
  }
  if (lines.gcount() == std::streamsize(kMaxLineBytes))
    throw FatalError(ExitCode::nothing_readable,
                     fmt::format("{} is not a throughput log: a line has more than 1 MiB", name));
}

void ThroughputLogReader::read(const std::filesystem::path& file) {
  errno = 0;
  std::ifstream lines(file, std::ios::binary);
  const int error = errno;
  if (!lines || std::filesystem::is_directory(file)) {
    const std::string why = lines ? "it is a folder" : std::generic_category().message(error);
    throw FatalError(error == EACCES ? ExitCode::no_permission : ExitCode::no_input,
                     fmt::format("cannot read the log {}: {}", file.native(), why));
  }
  read(lines, file.native());
}

std::vector<LoggedRun> ThroughputLogReader::runs() {
  std::vector<LoggedRun> usable;
  for (auto& [id, run] : runs_) {
    if (run.id.empty()) {
      warnings_.push_back(
          fmt::format("run {} ignored: its first line (kind 'run') is missing", id));
      continue;
    }
    sort_by_time(run.intervals);
    const ThroughputSample whole = run.whole();
    if (whole.images() > 0 && whole.interval_s > run.startup_s) {
      usable.push_back(run);
    } else {
      warnings_.push_back(fmt::format("run {} ignored: it processed no images", id));
    }
  }
  if (usable.empty()) {
    throw FatalError(
        ExitCode::nothing_readable,
        fmt::format("no usable run in {}{}", fmt::join(files_, ", "),
                    warnings_.empty() ? ": the file has no lines" : "; " + warnings_.front()));
  }
  std::ranges::stable_sort(usable, {}, &LoggedRun::time);
  return usable;
}

}  // namespace eckart::capacity
