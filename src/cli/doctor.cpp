#include <spdlog/fmt/fmt.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "app/make_backend.hpp"
#include "cli/arguments.hpp"
#include "cli/backend_check.hpp"
#include "cli/commands.hpp"
#include "cli/enum_option.hpp"
#include "cli/help.hpp"
#include "cli/measure_costs.hpp"
#include "codec/codec.hpp"
#include "core/error.hpp"
#include "files/out_of_space.hpp"
#include "machine/usable_cores.hpp"
#include "machine/usable_memory.hpp"
#include "settings/calibration.hpp"
#include "settings/settings.hpp"
#include "text/format_count.hpp"
#include "text/json.hpp"
#include "text/printable.hpp"

namespace eckart::cli {
namespace {

using settings::BackendChoice;

/// What a run may use.
struct MachineSummary {
  int cores = 0;
  std::int64_t memory_bytes = 0, free_memory_bytes = 0;
  std::uint64_t open_file_limit = 0;
  std::vector<std::string> formats{};
};

MachineSummary machine_summary() {
  struct rlimit files {};
  getrlimit(RLIMIT_NOFILE, &files);
  const std::int64_t usable = machine::usable_memory_bytes();
  MachineSummary machine{.cores = machine::usable_cores(),
                         .memory_bytes = usable,
                         .free_memory_bytes = std::min(usable, machine::available_memory_bytes()),
                         .open_file_limit = files.rlim_cur};
  for (const codec::Codec& codec : codec::codecs())
    machine.formats.push_back(to_string(codec.format));
  return machine;
}

void print(const MachineSummary& machine) {
  constexpr double kGib = 1 << 30;
  std::printf("machine  %d cores, %.1f of %.1f GiB memory available, open file limit %llu\n",
              machine.cores, double(machine.free_memory_bytes) / kGib,
              double(machine.memory_bytes) / kGib,
              static_cast<unsigned long long>(machine.open_file_limit));
  std::string formats;
  for (const std::string& format : machine.formats) formats += " " + format;
  std::printf("formats %s (%s)\n", formats.c_str(), codec::codec_libraries().c_str());
}

text::Json to_json(const MachineSummary& machine) {
  return {{"cores", machine.cores},
          {"memory_bytes", machine.memory_bytes},
          {"free_memory_bytes", machine.free_memory_bytes},
          {"open_file_limit", machine.open_file_limit},
          {"formats", machine.formats},
          {"codec_libraries", codec::codec_libraries()}};
}

struct DoctorArgs {
  BackendChoice backend = BackendChoice::automatic;  ///< not checked
  bool calibrate = false, json = false, quick = false;
  std::filesystem::path calibration;  ///< empty: the file of the user
  double seconds = 20;
  int gpus = 0;  ///< that must be usable

  bool needs_cuda() const { return backend == BackendChoice::cuda || gpus > 0; }
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

/// Makes CUDA start with one queue, which is enough for one lane of each GPU. Other threads read
/// the environment later.
void use_one_cuda_queue() { ::setenv("CUDA_DEVICE_MAX_CONNECTIONS", "1", /*overwrite=*/1); }

/// The checks of the backends, printed unless `--json` is given.
class Checks {
 public:
  Checks(const DoctorArgs& args, const compute::BackendOptions& options, compute::Task reference)
      : args_(args), options_(options), reference_(std::move(reference)) {}

  void check_cpu() {
    candidates_.push_back({CostBackend::cpu, [](const compute::BackendOptions& options) {
                             return app::make_backend(BackendChoice::cpu, options, 0).backend;
                           }});
    check(*candidates_.back().make(options_));
  }

  /// Throws FatalError if the process lacks something that is not of the GPUs, such as memory.
  void check_cuda() try {
    const auto cuda = app::make_cuda_backend(options_);
    const int found = check(*cuda).devices;
    candidates_.push_back({CostBackend::cuda, app::make_cuda_backend});
    if (found < args_.gpus)
      set_problem(ExitCode::unavailable, fmt::format("--gpus {}: only {} can be used", args_.gpus,
                                                     text::format_count(found, "GPU")));
  } catch (const app::CudaModuleError& error) {  // which says nothing of the GPUs
    add_missing_cuda(ExitCode::configuration, error.what(), args_.needs_cuda());
  } catch (const DeviceLostError& error) {
    add_missing_cuda(ExitCode::unavailable, error.what(), true);
  } catch (const FatalError& error) {
    if (error.code() != ExitCode::unavailable) throw;
    add_missing_cuda(error.code(), error.what(), args_.needs_cuda());
  } catch (const std::system_error&) {  // such as too many threads
    throw;
  } catch (const std::runtime_error& error) {  // of CUDA or its libraries, such as GPU memory
    add_missing_cuda(ExitCode::unavailable, error.what(), true);
  }

  const text::Json& json() const { return json_; }
  const std::vector<Candidate>& candidates() const { return candidates_; }
  bool is_correct() const { return is_correct_; }
  /// Why the GPUs are not what the options ask for.
  const std::optional<FatalError>& problem() const { return problem_; }

 private:
  BackendCheck check(compute::Backend& backend) {
    BackendCheck check = check_backend(
        backend, reference_, args_.quick ? LanesToCheck::one_per_device : LanesToCheck::all);
    json_.push_back(to_json(check));
    if (!args_.json) print(check);
    is_correct_ = is_correct_ && check.difference.is_acceptable();
    return check;
  }

  void add_missing_cuda(ExitCode code, const char* why, bool is_problem) {
    json_.push_back({{"name", "cuda"}, {"result", "warning"}, {"detail", why}});
    if (is_problem) set_problem(code, why);
    if (!args_.json) std::printf("cuda     %s: %s\n", is_problem ? "failed" : "none", why);
  }

  /// Of the last check.
  void set_problem(ExitCode code, const std::string& why) {
    problem_ = FatalError(code, why);
    json_.back()["result"] = "failed";
    json_.back()["detail"] = why;
  }

  const DoctorArgs& args_;
  const compute::BackendOptions options_;
  const compute::Task reference_;
  text::Json json_ = text::Json::array();
  std::vector<Candidate> candidates_;
  bool is_correct_ = true;
  std::optional<FatalError> problem_;
};

ExitCode doctor(const DoctorArgs& args) {
  if (args.gpus > 0 && args.backend == BackendChoice::cpu)
    throw FatalError(ExitCode::usage,
                     "--gpus needs the backend auto or cuda; see eckart doctor --help");
  if (args.quick) use_one_cuda_queue();
  const std::filesystem::path file = args.calibrate ? calibration_file(args) : "";
  const MachineSummary machine = machine_summary();
  if (!args.json) {
    std::printf("eckart   " ECKART_VERSION "\n");
    print(machine);
  }
  compute::BackendOptions options;
  options.calibration = load_costs(args);
  options.solver = SolverKind::gesvd;
  compute::Task reference =
      reconstruct_check_image(*app::make_backend(BackendChoice::cpu, options, 1).backend);
  options.solver = SolverKind::automatic;
  Checks checks(args, options, std::move(reference));
  if (args.backend != BackendChoice::cuda) checks.check_cpu();
  if (args.backend != BackendChoice::cpu) checks.check_cuda();
  const bool is_ready = checks.is_correct() && !checks.problem();
  if (args.calibrate && is_ready) {
    Calibration measured;
    for (const Candidate& candidate : checks.candidates())
      measured.push_back(measure_costs(candidate.backend, candidate.make, args.seconds));
    store_costs(file, measured);
  }
  if (args.json) {
    const text::Json json = {{"kind", "doctor"},
                             {"version", ECKART_VERSION},
                             {"ready", is_ready},
                             {"machine", to_json(machine)},
                             {"checks", checks.json()}};
    std::printf("%s\n", text::dump_json(json).c_str());
  } else if (!checks.is_correct()) {
    std::printf("This machine computes wrong results.\n");
  } else {
    std::printf("This machine is %s.\n", is_ready ? "ready" : "not ready");
  }
  if (checks.problem()) {
    if (checks.is_correct()) throw *checks.problem();
    std::fprintf(stderr, "eckart: %s\n", checks.problem()->what());
  }
  return checks.is_correct() ? ExitCode::ok : ExitCode::internal;
}

}  // namespace

void add_doctor(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("doctor", "Check this machine with a reconstruction on each backend")
          ->group(kMachineCommands);
  auto args = std::make_shared<DoctorArgs>();
  add_enum_option(*command, "--backend", args->backend, "Backend to check; auto: both",
                  {BackendChoice::automatic, BackendChoice::cpu, BackendChoice::cuda})
      ->group("Check");
  command->add_option("--gpus", args->gpus, "GPUs that must be usable")
      ->type_name("N")
      ->check(number_between(1, 1024))
      ->group("Check");
  CLI::Option* quick =
      command
          ->add_flag("--quick", args->quick,
                     "Check one lane of each GPU, and one of the CPU, to check often")
          ->group("Check");
  CLI::Option* json = command->add_flag("--json", args->json, "Print the checks as one JSON object")
                          ->group("Check");
  CLI::Option* calibrate =
      command
          ->add_flag("--calibrate", args->calibrate,
                     "Measure solver costs on this machine and store them for later runs")
          ->excludes(json)
          ->excludes(quick)
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
                    {"Check two GPUs before each job",
                     "eckart doctor --quick --backend cuda --gpus 2"},
                    {"Choose the fastest solvers for this machine", "eckart doctor --calibrate"}},
       .exit_codes = {ExitCode::ok, ExitCode::usage, ExitCode::unavailable, ExitCode::internal,
                      ExitCode::cannot_create, ExitCode::temporary, ExitCode::configuration}});
  command->callback([args, &action] { action = [args] { return doctor(*args); }; });
}

}  // namespace eckart::cli
