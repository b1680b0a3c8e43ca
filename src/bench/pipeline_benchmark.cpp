#include "bench/pipeline_benchmark.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "app/make_backend.hpp"
#include "app/pipeline_options.hpp"
#include "bench/cpu_order.hpp"
#include "bench/pipeline_parts.hpp"
#include "bench/repeated_inputs.hpp"
#include "bench/staged_run.hpp"
#include "bench/whole_runs.hpp"
#include "machine/gpu_monitor.hpp"
#include "machine/machine_info.hpp"
#include "machine/usable_memory.hpp"
#include "settings/calibration.hpp"
#include "text/group_digits.hpp"

namespace eckart::bench {
namespace {

namespace fs = std::filesystem;
using settings::Durability;

constexpr std::size_t kMaxFiles = 2048;            // different inputs
constexpr std::uintmax_t kMaxFileBytes = 1 << 30;  // of these
constexpr std::size_t kParts = 8;  // parts of the images that pass the stages one after the other
constexpr std::size_t kMaxFirstPass = 64;  // images
constexpr double kPartShare = 0.1;         // of the seconds of a whole run, for a part of a stage

/// The settings of measured runs: nothing outside of their output folder is read or written.
settings::Settings measured_settings(settings::Settings settings, settings::BackendChoice backend) {
  settings.backend = backend;
  if (!settings.ledger.is_none()) settings.ledger = {};
  settings.wait_for_space = false;
  settings.telemetry = {};
  return settings;
}

/// Durable, as chosen, and not durable.
std::array<Durability, 2> durabilities(Durability chosen) {
  return {chosen == Durability::none ? Durability::group : chosen, Durability::none};
}

/// The memory of all images between two stages. More than in a run, so that the start and the end
/// are a small part of a pass.
std::size_t max_pass_bytes(const settings::Settings& settings) {
  constexpr std::size_t kBudgets = 4, kMemoryDivisor = 4;
  return std::min(kBudgets * app::pipeline_options(settings).budget_bytes,
                  std::size_t(machine::usable_memory_bytes()) / kMemoryDivisor);
}

/// The backend of all runs.
struct BackendInfo {
  settings::BackendChoice kind;  ///< never automatic
  std::string name, device, driver;
  int lanes;
};

/// Makes the backend once. Short runs might choose another one than long runs.
BackendInfo choose_backend(const settings::Settings& settings) {
  const app::ChosenBackend chosen =
      app::make_backend(settings, settings::load_calibration(settings.calibration));
  const std::vector<std::string> gpus = chosen.backend->gpu_bus_ids();
  return {.kind = chosen.kind,
          .name = chosen.backend->name(),
          .device = chosen.backend->device_name(),
          .driver = gpus.empty() ? "" : machine::GpuMonitor(gpus).driver(),
          .lanes = chosen.backend->lanes()};
}

std::vector<int> use_first_cpus(int cores) {
  std::vector<int> cpus = first_cpus_by_core(cores);
  use_cpus(cpus);
  return cpus;
}

class PipelineBenchmark {
 public:
  PipelineBenchmark(const PipelineBenchmarkOptions& options, ChildProcess& child,
                    const std::stop_token& stop)
      : options_(options),
        stop_(stop),
        cpus_(use_first_cpus(options.cores)),
        backend_(choose_backend(options.settings)),
        settings_(measured_settings(options.settings, backend_.kind)),
        durabilities_(durabilities(options.settings.durability)),
        inputs_(options.scratch / "in",
                choose_sample(list_images(options.inputs), kMaxFiles, kMaxFileBytes),
                RepeatedInputs::Kind::copies),
        whole_(inputs_, child, stop,
               {.scratch = options.scratch,
                .run_options = options.run_options,
                .backend = backend_.kind,
                .has_ledger = !settings_.ledger.is_none(),
                .seconds = options.seconds,
                .cpus = cpus_,
                .print_line = options.print_line}),
        parts_(inputs_) {}

  PipelineResult measure() {
    whole_.warm_up(durabilities_.front());
    int complete = 0;
    for (round_ = 1; round_ <= options_.repeats && !stop_.stop_requested(); ++round_) {
      for (std::size_t i = 0; i < durabilities_.size(); ++i) measure_whole(i);
      print("stages alone");
      for (const Durability durability : durabilities_) measure_stages(durability);
      print("parts of stages");
      measure_parts();
      print("file system");
      measure_file_system();
      if (!stop_.stop_requested()) complete = round_;
    }
    result_.keep_rounds(complete);
    describe();
    return std::move(result_);
  }

 private:
  void print(const std::string& what) const {
    if (!stop_.stop_requested())
      options_.print_line(fmt::format("round {} of {}: {}", round_, options_.repeats, what));
  }

  void measure_whole(std::size_t index) {
    const std::string name = to_string(durabilities_[index]);
    if (result_.whole.size() <= index) result_.whole.push_back({.durability = name, .rounds = {}});
    const std::optional<WholeRun> run = whole_.run(durabilities_[index]);
    if (!run) return;
    result_.whole[index].rounds.push_back(*run);
    print(fmt::format("whole run, durability {}: {} images, {} images/s", name,
                      text::group_digits(run->images),
                      text::group_digits(std::int64_t(run->images_per_s))));
  }

  /// The stages one after the other. The durability matters to the stage write only.
  void measure_stages(Durability durability) {
    if (stop_.stop_requested()) return;
    settings::Settings settings = settings_;
    settings.durability = durability;
    const fs::path output = options_.scratch / "out";
    StageRates rates;
    {
      StagedRun run(settings, inputs_.root(), output, decoder() == Worker::gpu, stop_);
      threads_ = run.options();
      const std::size_t images = first_passes(run);
      if (durability == durabilities_.front()) measure_encoding(run, images);
      rates = measure_passes(run, images);
    }
    std::error_code ignored;
    fs::remove_all(output, ignored);
    for (std::size_t i = 0; i < rates.size(); ++i) {
      const Stage stage = Stage(i);
      add(result_.stages,
          {.name = std::string(to_string(stage)),
           .durability = stage == Stage::write ? to_string(durability) : "",
           .threads = threads(stage)},
          rates[i]);
    }
  }

  /// A warm-up. Returns the number of images for a pass.
  std::size_t first_passes(StagedRun& run) const {
    const std::size_t wanted = std::max<std::size_t>(1, inputs_.paths().size() / kParts);
    const std::size_t first = std::min(wanted, kMaxFirstPass);
    run.pass(first);
    const std::size_t max =
        max_pass_bytes(settings_) / std::max<std::size_t>(1, run.bytes_per_image());
    const std::size_t images = std::clamp(wanted, first, std::max(first, max));
    run.pass(images);
    return images;
  }

  StageRates measure_passes(StagedRun& run, std::size_t images) const {
    StageRates rates;
    double wall_s = 0;
    while (!stop_.stop_requested() && wall_s < options_.seconds) {
      const StageRates pass = run.pass(images);
      if (pass.front().count == 0) break;  // the end of the inputs
      for (std::size_t stage = 0; stage < pass.size(); ++stage) {
        rates[stage] += pass[stage];
        wall_s += pass[stage].wall_s;
      }
    }
    return rates;
  }

  static Worker worker(double gpu_share) { return gpu_share > 0.5 ? Worker::gpu : Worker::cpu; }
  Worker decoder() const { return worker(whole_.means().decoded_on_gpu); }

  int threads(Stage stage) const {
    switch (stage) {
      case Stage::load:
        return threads_.load_threads;
      case Stage::compute:
        return backend_.lanes;
      case Stage::write:
        return threads_.write_threads;
      case Stage::source:
      case Stage::batch:
        break;
    }
    return 1;
  }

  /// The outputs are like those of all following measurements.
  void measure_encoding(StagedRun& run, std::size_t images) {
    const StagedRun::Encoding encoding = run.encode_next(images);
    parts_.set_options({.folder = options_.scratch / "files",
                        .settings = settings_,
                        .threads = threads_,
                        .output_sizes = encoding.file_sizes,
                        .outputs_per_image = double(encoding.file_sizes.size()) /
                                             double(std::max<std::int64_t>(1, encoding.rate.count)),
                        .seconds = kPartShare * options_.seconds,
                        .stop = stop_});
    add(result_.stages,
        {.name = "encode",
         .part_of = "write",
         .threads = threads_.write_threads,
         .worker = worker(whole_.means().encoded_on_gpu)},
        encoding.rate);
  }

  void measure_parts() {
    if (stop_.stop_requested()) return;
    const int readers = threads_.load_threads, writers = threads_.write_threads;
    add(result_.stages, {.name = "read", .part_of = "load", .threads = readers}, parts_.read());
    add(result_.stages,
        {.name = "decode", .part_of = "load", .threads = readers, .worker = decoder()},
        decoder() == Worker::gpu ? Rate() : parts_.decode());
    for (const Durability durability : durabilities_) {
      const std::string name = to_string(durability);
      add(result_.stages,
          {.name = "publish", .part_of = "write", .durability = name, .threads = writers},
          parts_.publish(durability));
      if (settings_.ledger.is_none()) continue;
      add(result_.stages,
          {.name = "ledger", .part_of = "write", .durability = name, .threads = writers},
          parts_.record(durability, false));
    }
  }

  void measure_file_system() {
    if (stop_.stop_requested()) return;
    const int readers = threads_.load_threads, writers = threads_.write_threads;
    add(result_.file_system, {.name = "list"}, parts_.list());
    add(result_.file_system, {.name = "read", .threads = readers}, parts_.read());
    for (const Durability durability : durabilities_) {
      const std::string name = to_string(durability);
      add(result_.file_system, {.name = "write", .durability = name, .threads = writers},
          parts_.write_plainly(durability));
      add(result_.file_system,
          {.name = kReadAndWrite, .durability = name, .threads = readers + writers},
          parts_.read_and_write(durability));
      if (settings_.ledger.is_none()) continue;
      add(result_.file_system,
          {.name = "ledger, random order", .durability = name, .threads = writers},
          parts_.record(durability, true));
    }
  }

  void add(std::vector<PipelineRow>& rows, PipelineRow measured, const Rate& rate) const {
    if (stop_.stop_requested()) return;
    auto row = std::ranges::find_if(rows, [&](const PipelineRow& known) {
      return known.name == measured.name && known.durability == measured.durability;
    });
    if (row == rows.end()) row = rows.insert(rows.end(), std::move(measured));
    row->rounds.push_back(rate);
  }

  void describe() {
    result_.backend = backend_.name;
    result_.device = backend_.device;
    result_.driver = backend_.driver;
    result_.cores = int(cpus_.size());
    result_.files = std::int64_t(inputs_.files().size());
    result_.image = whole_.means();
    result_.seconds = options_.seconds;
    result_.settings = settings::changed(options_.settings);
    result_.place_parts_after_stages();
  }

  const PipelineBenchmarkOptions& options_;
  const std::stop_token stop_;
  const std::vector<int> cpus_;
  const BackendInfo backend_;
  const settings::Settings settings_;
  const std::array<Durability, 2> durabilities_;
  RepeatedInputs inputs_;
  WholeRuns whole_;
  PipelineParts parts_;
  PipelineResult result_;
  int round_ = 0;
  pipeline::PipelineOptions threads_{};
};

}  // namespace

PipelineResult measure_pipeline(const PipelineBenchmarkOptions& options, ChildProcess& child,
                                const std::stop_token& stop) {
  return PipelineBenchmark(options, child, stop).measure();
}

}  // namespace eckart::bench
