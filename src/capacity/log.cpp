#include "capacity/log.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>

#include "core/error.hpp"

namespace eckart::capacity {
namespace {

using LineJson = nlohmann::json;

constexpr std::string_view kSchema = "eckart.throughput/1";
constexpr std::size_t kMostWarnings = 20;

/// Why a line cannot be used.
struct BadLine : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The value of a key that may be null or absent.
template <typename T>
T value_or(const LineJson& json, const char* key, T otherwise) {
  const auto found = json.find(key);
  if (found == json.end() || found->is_null()) return otherwise;
  return found->get<T>();
}

template <typename T>
T value_of(const LineJson& json, const char* key) {
  if (!json.contains(key)) throw BadLine(fmt::format("has no '{}'", key));
  return json.at(key).get<T>();
}

const LineJson& list_of(const LineJson& json, const char* key) {
  static const LineJson kNone = LineJson::array();
  const auto found = json.find(key);
  return found == json.end() || found->is_null() ? kNone : *found;
}

/// More than these cannot be: so sums of all lines fit, and so do products with cores.
struct Most {
  static constexpr double kCount = 1e15, kCores = 8192, kThreads = 65536, kSeconds = 1e10;
  static constexpr std::size_t kGpus = 1024;
};

double within(double least, double number, double most, const char* key) {
  if (!(least <= number && number <= most))
    throw BadLine(fmt::format("says that '{}' is {}", key, number));
  return number;
}

std::int64_t count_or_none(const LineJson& json, const char* key) {
  return std::int64_t(within(0, value_or(json, key, 0.0), Most::kCount, key));
}

double seconds_or_none(const LineJson& json, const char* key) {
  constexpr double kRounding = 1e-6;  // of what is the difference of two sums
  return std::max(0.0, within(-kRounding, value_or(json, key, 0.0), Most::kSeconds, key));
}

LoggedRun run_of(const LineJson& json) {
  LoggedRun run;
  run.id = value_of<std::string>(json, "run");
  run.time = value_or<std::string>(json, "time", "");
  run.command = value_or<std::string>(json, "command", "run");
  run.host = value_or<std::string>(json, "host", "");
  run.cpu = value_or<std::string>(json, "cpu", "");
  run.backend = value_or<std::string>(json, "backend", "");
  run.device = value_or<std::string>(json, "device", "");
  run.cores = int(within(1, value_of<double>(json, "cores"), Most::kCores, "cores"));
  run.startup_s = seconds_or_none(json, "startup_s");
  for (const LineJson& gpu : list_of(json, "gpus")) {
    run.gpus.push_back(value_or<std::string>(gpu, "name", "GPU"));
  }
  if (run.gpus.size() > Most::kGpus)
    throw BadLine(fmt::format("says that there are {} GPUs", run.gpus.size()));
  for (const auto& [key, value] : list_of(json, "settings").items()) {
    run.settings[key] = value.is_string() ? value.get<std::string>() : value.dump();
  }
  return run;
}

StageSample stage_of(const LineJson& json) {
  return {.name = value_of<std::string>(json, "name"),
          .workers = int(within(0, value_of<double>(json, "workers"), Most::kThreads, "workers")),
          .busy_s = seconds_or_none(json, "busy_s"),
          .cpu_s = seconds_or_none(json, "cpu_s"),
          .images = count_or_none(json, "images")};
}

GpuSample gpu_of(const LineJson& json, double interval_s) {
  GpuSample gpu;
  if (const auto busy = json.find("busy"); busy != json.end() && !busy->is_null()) {
    const double share = within(0, busy->get<double>(), 1 + 1e-6, "busy");
    gpu = {.busy_s = share * interval_s, .looked_s = interval_s};
  }
  if (const auto energy = json.find("energy_j"); energy != json.end() && !energy->is_null()) {
    gpu.energy_j = within(0, energy->get<double>(), Most::kCount, "energy_j");
  }
  return gpu;
}

Sample sample_of(const LineJson& json) {
  for (const char* key : {"elapsed_s", "interval_s", "done"}) value_of<double>(json, key);
  Sample sample;
  sample.elapsed_s = seconds_or_none(json, "elapsed_s");
  sample.interval_s = seconds_or_none(json, "interval_s");
  sample.done = count_or_none(json, "done");
  sample.failed = count_or_none(json, "failed");
  sample.skipped = count_or_none(json, "skipped");
  sample.unfinished = count_or_none(json, "unfinished");
  sample.pixels = count_or_none(json, "pixels");
  sample.input_bytes = count_or_none(json, "input_bytes");
  if (sample.images() > 0 && sample.interval_s <= 0)
    throw BadLine(fmt::format("says that {} images took no time", sample.images()));
  sample.cpu_s = seconds_or_none(value_or(json, "process", LineJson::object()), "cpu_s");
  const LineJson way = value_or(json, "end_to_end_s", LineJson::object());
  sample.in_system_count = count_or_none(way, "count");
  sample.in_system_s = seconds_or_none(way, "mean") * double(sample.in_system_count);
  for (const LineJson& stage : list_of(json, "stages")) sample.stages.push_back(stage_of(stage));
  for (const LineJson& gpu : list_of(json, "gpus"))
    sample.gpus.push_back(gpu_of(gpu, sample.interval_s));
  return sample;
}

/// By time, each once: the same file may have been given twice.
void sort_by_time(std::vector<Sample>& intervals) {
  const auto same = [](const Sample& a, const Sample& b) { return a.elapsed_s == b.elapsed_s; };
  std::ranges::stable_sort(intervals, {}, &Sample::elapsed_s);
  intervals.erase(std::unique(intervals.begin(), intervals.end(), same), intervals.end());
}

}  // namespace

Sample sum(const Sample& a, const Sample& b) {
  Sample both = b;  // what is so at its end
  both.interval_s += a.interval_s;
  both.done += a.done;
  both.failed += a.failed;
  both.skipped += a.skipped;
  both.pixels += a.pixels;
  both.input_bytes += a.input_bytes;
  both.cpu_s += a.cpu_s;
  both.in_system_s += a.in_system_s;
  both.in_system_count += a.in_system_count;
  for (std::size_t i = 0; i < std::min(a.stages.size(), both.stages.size()); ++i) {
    both.stages[i].busy_s += a.stages[i].busy_s;
    both.stages[i].cpu_s += a.stages[i].cpu_s;
    both.stages[i].images += a.stages[i].images;
  }
  if (both.stages.empty()) both.stages = a.stages;
  if (both.gpus.empty()) both.gpus = a.gpus;
  for (std::size_t i = 0; i < std::min(a.gpus.size(), b.gpus.size()); ++i) {
    GpuSample& gpu = both.gpus[i];
    gpu.busy_s += a.gpus[i].busy_s;
    gpu.looked_s += a.gpus[i].looked_s;
    if (a.gpus[i].energy_j) gpu.energy_j = gpu.energy_j.value_or(0) + *a.gpus[i].energy_j;
  }
  return both;
}

Sample LoggedRun::whole() const {
  if (total) return *total;
  Sample all;
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    all = i == 0 ? intervals[0] : sum(all, intervals[i]);
  }
  return all;
}

void LogReader::take(const std::string& line) {
  const LineJson json = LineJson::parse(line);
  if (!json.is_object()) throw BadLine("is not a JSON object");
  const auto schema = value_or<std::string>(json, "schema", "");
  if (schema.empty()) throw BadLine("is not of a throughput log: it has no schema");
  if (schema != kSchema) {
    throw BadLine(fmt::format("has the schema '{}', and this program reads '{}'", schema, kSchema));
  }
  const auto kind = value_of<std::string>(json, "kind");
  const auto id = value_of<std::string>(json, "run");
  if (kind == "run") {
    LoggedRun head = run_of(json);
    LoggedRun& run = runs_[id];
    if (!run.id.empty()) return;  // again, at the beginning of the next file
    head.intervals = std::move(run.intervals);
    head.total = std::move(run.total);
    run = std::move(head);
  } else if (kind == "interval") {
    Sample sample = sample_of(json);
    runs_[id].intervals.push_back(std::move(sample));
  } else if (kind == "total") {
    runs_[id].total = sample_of(json);
  }  // another kind is of a later version within the schema
}

std::string LogReader::what_is_wrong_with(const std::string& line, bool is_last) {
  try {
    take(line);
    return {};
  } catch (const BadLine& error) {
    return error.what();
  } catch (const LineJson::parse_error&) {
    // A killed run's last line, and in it the first one of the run that went on with the file.
    const std::size_t next = line.rfind(R"({"schema":)");
    if (next != line.npos && next > 0) return what_is_wrong_with(line.substr(next), is_last);
    return is_last ? "" : "is not JSON";
  } catch (const LineJson::exception&) {
    return "has a value of another type than the schema says";
  }
}

void LogReader::read(std::istream& lines, const std::string& name) {
  files_.push_back(name);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    const bool is_cut = lines.eof();  // it has no newline
    const std::string wrong = what_is_wrong_with(line, is_cut);
    if (wrong.empty()) continue;
    if (warnings_.size() < kMostWarnings) {
      warnings_.push_back(fmt::format("{}:{}: this line {}", name, number, wrong));
    } else if (warnings_.size() == kMostWarnings) {
      warnings_.push_back("and more lines like these");
    }
  }
}

void LogReader::read(const std::filesystem::path& file) {
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

std::vector<LoggedRun> LogReader::runs() {
  std::vector<LoggedRun> usable;
  for (auto& [id, run] : runs_) {
    if (run.id.empty()) {
      warnings_.push_back(
          fmt::format("run {}: its first line, which says what it is, is missing", id));
      continue;
    }
    sort_by_time(run.intervals);
    const Sample whole = run.whole();
    if (whole.images() > 0 && whole.interval_s > run.startup_s) {
      usable.push_back(run);
    } else {
      warnings_.push_back(fmt::format("run {}: no image was done in it", id));
    }
  }
  if (usable.empty()) {
    throw FatalError(
        ExitCode::nothing_readable,
        fmt::format("no run of which a plan can be made in {}{}", fmt::join(files_, ", "),
                    warnings_.empty() ? ": nothing is logged there" : "; " + warnings_.front()));
  }
  std::ranges::stable_sort(usable, {}, &LoggedRun::time);
  return usable;
}

}  // namespace eckart::capacity
