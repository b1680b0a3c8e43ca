#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "app/make_backend.hpp"
#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/enum_option.hpp"
#include "cli/help.hpp"
#include "cli/measure_costs.hpp"
#include "core/instant.hpp"
#include "core/quality.hpp"
#include "core/round_up.hpp"
#include "files/out_of_space.hpp"
#include "io/codec.hpp"
#include "machine/usable_cores.hpp"
#include "settings/calibration.hpp"
#include "settings/settings.hpp"
#include "synth/synth.hpp"
#include "text/json.hpp"
#include "text/printable.hpp"

namespace eckart::cli {
namespace {

using settings::BackendChoice;

constexpr int kSide = 256;
constexpr RankPolicy kRanks[] = {RankPolicy{}};

compute::Task make_task() {
  compute::Task task;
  task.input = synth::synthesize(
      {.kind = synth::SynthKind::texture, .rows = kSide, .cols = kSide, .channels = 1, .seed = 1});
  task.ranks = kRanks;
  task.outputs.emplace_back(task.input.shape());
  task.results.emplace_back(1);
  return task;
}

/// Reconstructs one image on this lane and returns its task.
compute::Task reconstruct(compute::Backend& backend, int index = 0) {
  compute::Task task = make_task();
  compute::Task* const tasks[] = {&task};
  const auto lane = backend.make_lane(index);
  lane->start(0, compute::batch_key(task, kDefaultPadMultiple), tasks);
  lane->finish(0);
  return task;
}

/// Returns the squared error of the output, in levels^2.
double squared_error(const compute::Task& task) {
  const auto in = task.input.plane<std::uint8_t>(0), out = task.outputs[0].plane<std::uint8_t>(0);
  double sum = 0;
  for (int i = 0; i < kSide * kSide; ++i) {
    const int difference = int(in.data[i]) - int(out.data[i]);
    sum += difference * difference;
  }
  return sum;
}

/// The maximum difference of all lanes from the reference.
struct MaxDifference {
  bool failed = false;
  int samples = 0;
  int levels = 0;
  double loss_db = 0;

  void add(const compute::Task& task, const compute::Task& reference) {
    failed = failed || !task.error.empty();
    const auto a = task.outputs[0].plane<std::uint8_t>(0),
               b = reference.outputs[0].plane<std::uint8_t>(0);
    int different = 0;
    for (int i = 0; i < kSide * kSide; ++i) {
      const int difference = std::abs(int(a.data[i]) - int(b.data[i]));
      different += difference != 0;
      levels = std::max(levels, difference);
    }
    samples = std::max(samples, different);
    loss_db = std::max(loss_db, 10 * std::log10(squared_error(task) / squared_error(reference)));
  }
  /// Uses the pixels of the output instead of the loss that the backend reports.
  bool is_acceptable() const { return !failed && levels <= 1 && loss_db <= kMaxLossDb; }
};

/// Tests every lane, and so every GPU, against `reference`. Returns the check as an object of
/// docs/reference/json.md.
text::Json check_backend(compute::Backend& backend, const compute::Task& reference) {
  MaxDifference difference;
  std::chrono::duration<double, std::milli> first{};
  for (int lane = 0; lane < backend.lanes(); ++lane) {
    const auto start = Clock::now();
    difference.add(reconstruct(backend, lane), reference);
    if (lane == 0) first = Clock::now() - start;
  }
  const bool is_ok = difference.is_acceptable();
  return {{"name", backend.name()},
          {"result", !is_ok                       ? "failed"
                     : backend.warnings().empty() ? "ok"
                                                  : "warning"},
          {"detail", backend.description()},
          {"details", backend.details()},
          {"warnings", backend.warnings()},
          {"lanes", backend.lanes()},
          {"converged", !difference.failed},
          {"different_samples", difference.samples},
          {"max_difference_levels", difference.levels},
          {"loss_db",
           std::isfinite(difference.loss_db) ? text::Json(difference.loss_db) : text::Json()},
          {"first_batch_ms", first.count()}};
}

void print_check(const text::Json& check) {
  const auto text = [&](const char* key) { return check.at(key).get<std::string>(); };
  std::printf("%-8s %s: %s\n", text("name").c_str(), text("result") == "failed" ? "WRONG" : "ok",
              text("detail").c_str());
  for (const char* lines : {"details", "warnings"})
    for (const auto& line : check.at(lines))
      std::printf("         %s\n", line.get<std::string>().c_str());
  const double loss_db =
      check.at("loss_db").is_null() ? std::nan("") : check.at("loss_db").get<double>();
  std::printf(
      "         %d x %d at rank %d, on every lane: %d of %d samples differ from the float64 SVD, "
      "by %d at most; loss %.1g dB; first batch %.0f ms\n",
      kSide, kSide, kRanks[0].k, check.at("different_samples").get<int>(), kSide * kSide,
      check.at("max_difference_levels").get<int>(), loss_db,
      check.at("first_batch_ms").get<double>());
  if (!check.at("converged").get<bool>()) std::printf("         the solver did not converge\n");
}

text::Json machine_json() {
  struct sysinfo info {};
  struct rlimit files {};
  sysinfo(&info);
  getrlimit(RLIMIT_NOFILE, &files);
  text::Json formats = text::Json::array();
  for (const io::Codec& codec : io::codecs()) formats.push_back(to_string(codec.format));
  return {{"cores", machine::usable_cores()},
          {"memory_bytes", std::uint64_t(info.totalram) * info.mem_unit},
          {"free_memory_bytes", std::uint64_t(info.freeram + info.bufferram) * info.mem_unit},
          {"open_file_limit", files.rlim_cur},
          {"formats", formats},
          {"codec_libraries", io::codec_libraries()}};
}

void print_machine(const text::Json& machine) {
  constexpr double kGib = 1 << 30;
  std::printf("machine  %d cores, %.1f of %.1f GiB memory free, open file limit %llu\n",
              machine.at("cores").get<int>(), machine.at("free_memory_bytes").get<double>() / kGib,
              machine.at("memory_bytes").get<double>() / kGib,
              machine.at("open_file_limit").get<unsigned long long>());
  std::string formats;
  for (const auto& format : machine.at("formats")) formats += " " + format.get<std::string>();
  std::printf("formats %s (%s)\n", formats.c_str(),
              machine.at("codec_libraries").get<std::string>().c_str());
}

struct DoctorArgs {
  BackendChoice backend = BackendChoice::automatic;  ///< not checked
  bool calibrate = false, json = false;
  std::filesystem::path calibration;  ///< empty: the file of the user
  double seconds = 20;
};

/// Returns the file for measured costs. Before the measurement, it creates the folder and checks
/// that it can be written. Throws FatalError and settings::SettingsError.
std::filesystem::path calibration_file(const DoctorArgs& args) {
  auto file = args.calibration.empty() ? settings::user_calibration_file() : args.calibration;
  if (file.empty()) {
    throw FatalError(ExitCode::usage, "there is no home folder; use --calibration FILE");
  }
  try {
    read_stored_costs(file);
  } catch (const settings::SettingsError& error) {  // not a calibration file
    throw settings::SettingsError(std::string(error.what()) +
                                  ": not replaced. Remove it, or use another --calibration file");
  }
  std::error_code failed;
  const auto folder = std::filesystem::absolute(file).parent_path();
  std::filesystem::create_directories(folder, failed);
  if (!failed && access(folder.c_str(), W_OK) != 0) failed = {errno, std::generic_category()};
  const std::string message = text::printable(file.native()) + ": " + failed.message();
  files::throw_if_out_of_space(failed.value(), message);
  if (failed) throw FatalError(ExitCode::cannot_create, message);
  return file;
}

/// Returns the costs that a run would use.
Calibration load_costs(const DoctorArgs& args) {
  if (args.calibrate && !args.calibration.empty()) return read_stored_costs(args.calibration);
  const settings::LoadedCalibration loaded = settings::load_calibration(
      args.calibration.empty() ? settings::FileChoice{}
                               : settings::FileChoice::at(args.calibration));
  for (const std::string& warning : loaded.warnings) {
    std::fprintf(stderr, "eckart: %s\n", text::printable_message(warning).c_str());
  }
  return loaded.costs;
}

/// A backend whose costs are measured.
struct Candidate {
  CostBackend backend;
  std::function<std::unique_ptr<compute::Backend>(const compute::BackendOptions&)> make;
};

ExitCode doctor(const DoctorArgs& args) {
  const std::filesystem::path file = args.calibrate ? calibration_file(args) : "";
  const text::Json machine = machine_json();
  text::Json checks = text::Json::array();
  const auto add_check = [&](text::Json check) {
    if (!args.json) print_check(check);
    checks.push_back(std::move(check));
    return checks.back().at("result") != "failed";
  };
  if (!args.json) {
    std::printf("eckart   " ECKART_VERSION "\n");
    print_machine(machine);
  }
  compute::BackendOptions options;
  options.calibration = load_costs(args);
  options.solver = SolverKind::gesvd;
  const compute::Task reference =
      reconstruct(*app::make_backend(BackendChoice::cpu, options, 1).backend);
  options.solver = SolverKind::automatic;
  std::vector<Candidate> candidates;
  bool is_acceptable = true;
  if (args.backend != BackendChoice::cuda) {
    candidates.push_back(
        {CostBackend::cpu, [](const compute::BackendOptions& backend_options) {
           return app::make_backend(BackendChoice::cpu, backend_options, 0).backend;
         }});
    is_acceptable = add_check(check_backend(*candidates.back().make(options), reference));
  }
  if (args.backend != BackendChoice::cpu) {
    try {
      is_acceptable =
          add_check(check_backend(*app::make_cuda_backend(options), reference)) && is_acceptable;
      candidates.push_back({CostBackend::cuda, app::make_cuda_backend});
    } catch (const FatalError& error) {
      if (error.code() != ExitCode::unavailable || args.backend == BackendChoice::cuda) throw;
      if (!args.json) std::printf("cuda     none: %s\n", error.what());
      checks.push_back({{"name", "cuda"}, {"result", "warning"}, {"detail", error.what()}});
    }
  }
  if (args.calibrate && is_acceptable) {
    Calibration measured;
    for (const Candidate& candidate : candidates)
      measured.push_back(measure_costs(candidate.backend, candidate.make, args.seconds));
    store_costs(file, measured);
  }
  if (args.json) {
    const text::Json json = {{"kind", "doctor"},
                             {"version", ECKART_VERSION},
                             {"ready", is_acceptable},
                             {"machine", machine},
                             {"checks", checks}};
    std::printf("%s\n", text::dump_json(json).c_str());
    return is_acceptable ? ExitCode::ok : ExitCode::internal;
  }
  std::printf("%s\n",
              is_acceptable ? "This machine is ready." : "This machine computes wrong results.");
  return is_acceptable ? ExitCode::ok : ExitCode::internal;
}

}  // namespace

void add_doctor(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("doctor", "Check this machine with a reconstruction on each backend")
          ->group(kMachineCommands);
  auto args = std::make_shared<DoctorArgs>();
  add_enum_option(*command, "--backend", args->backend, "Backend to check; auto: both",
                  {BackendChoice::automatic, BackendChoice::cpu, BackendChoice::cuda});
  CLI::Option* json =
      command->add_flag("--json", args->json, "Print the checks as one JSON object");
  CLI::Option* calibrate =
      command
          ->add_flag("--calibrate", args->calibrate,
                     "Measure solver costs on this machine and store them for later runs")
          ->excludes(json)
          ->group("Calibration");
  command
      ->add_option("--calibration", args->calibration,
                   "Calibration file; eckart/calibration.yaml in $XDG_CONFIG_HOME or ~/.config if "
                   "none is given")
      ->type_name("FILE")
      ->group("Calibration");
  command->add_option("--seconds", args->seconds, "Approximate seconds to measure each backend")
      ->type_name("SECONDS")
      ->check(number_between(0.0, 3600.0))
      ->needs(calibrate)
      ->capture_default_str()
      ->group("Calibration");
  describe(
      *command,
      {.usage = {"[OPTIONS]"},
       .examples = {{"Is this machine ready?", "eckart doctor"},
                    {"Is the GPU used?", "eckart doctor --backend cuda"},
                    {"Choose the fastest solvers for this machine", "eckart doctor --calibrate"}},
       .exit_codes = {ExitCode::ok, ExitCode::usage, ExitCode::unavailable, ExitCode::internal,
                      ExitCode::cannot_create, ExitCode::configuration}});
  command->callback([args, &action] { action = [args] { return doctor(*args); }; });
}

}  // namespace eckart::cli
