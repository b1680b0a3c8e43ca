#include "app/pack.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>

#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/count_progress.hpp"
#include "cli/existing_path.hpp"
#include "cli/help.hpp"
#include "cli/signal_handler.hpp"
#include "cli/stop_signals.hpp"
#include "logging/log.hpp"
#include "text/format_count.hpp"
#include "text/format_number.hpp"
#include "text/json.hpp"
#include "text/printable.hpp"

namespace eckart::cli {
namespace {

constexpr std::int64_t kMegabyte = 1'000'000;

struct PackArgs {
  app::PackRequest request;
  std::int64_t max_mb = 0;
  bool json = false;
};

struct UnpackArgs {
  app::UnpackRequest request;
  bool json = false;
};

void log_failures(const std::vector<app::PackResult::Failure>& failed) {
  for (const auto& [file, why] : failed)
    spdlog::error("{}: {}", text::printable(file.native()), text::printable_message(why));
}

/// Calls `work` with a token that a signal stops. Returns the exit code of the signal, if there was
/// one.
template <class Work>
ExitCode stoppable(const Work& work, ExitCode otherwise) {
  std::stop_source stop;
  const SignalHandler signals({.on_stop = [&](int) { stop.request_stop(); },
                               .on_status_request = [] {},
                               .shutdown_timeout = [] { return std::chrono::seconds(60); },
                               .pending_work = [] { return std::string("an archive"); }});
  work(stop.get_token());
  return signals.received() != 0 ? exit_code_of(signals.received()) : otherwise;
}

void print(const app::PackResult& result, bool as_json) {
  std::int64_t files = 0;
  for (const app::PackedArchive& archive : result.archives) files += archive.files;
  if (as_json) {
    text::Json archives = text::Json::array();
    for (const app::PackedArchive& archive : result.archives)
      archives.push_back({{"path", archive.path.native()},
                          {"files", archive.files},
                          {"bytes", archive.bytes},
                          {"has_index", archive.has_index}});
    const text::Json json = {{"kind", "pack"},
                             {"files", files},
                             {"failed", result.failed.size()},
                             {"left_out", result.left_out},
                             {"archives", archives}};
    std::printf("%s\n", text::dump_json(json).c_str());
    return;
  }
  for (const app::PackedArchive& archive : result.archives)
    std::printf("%s: %s, %s\n", text::printable(archive.path.native()).c_str(),
                text::format_count(archive.files, "file").c_str(),
                text::format_megabytes(archive.bytes).c_str());
  if (std::ranges::any_of(result.archives, [](const auto& archive) { return !archive.has_index; }))
    std::fprintf(stderr, "without an index for NVIDIA DALI, because names have white space\n");
  if (result.left_out > 0)
    std::fprintf(stderr, "left out, because hidden, links or no files: %s\n",
                 text::group_digits(result.left_out).c_str());
}

ExitCode pack(const PackArgs& args) {
  logging::start_log(0);
  app::PackRequest request = args.request;
  request.max_bytes = args.max_mb * kMegabyte;
  check_exists(request.folder);
  if (!std::filesystem::is_directory(request.folder))
    throw FatalError(ExitCode::usage,
                     text::printable(request.folder.native()) + " is not a folder");
  if (request.archive.extension() != ".tar")
    throw FatalError(ExitCode::usage, "--output " + text::printable(request.archive.native()) +
                                          ": the name of an archive ends with .tar");
  app::PackResult result;
  const ExitCode signal_code = stoppable(
      [&](const std::stop_token& stop) {
        CountProgress progress("file", "packed");
        result = app::pack(
            request, [&](std::int64_t files) { progress.show(files); }, stop);
      },
      ExitCode::ok);
  log_failures(result.failed);
  if (signal_code == ExitCode::ok && result.archives.empty())
    throw FatalError(ExitCode::nothing_readable,
                     "no files in " + text::printable(request.folder.native()));
  print(result, args.json);
  if (signal_code != ExitCode::ok) return signal_code;
  for (const std::filesystem::path& other : result.others)
    spdlog::error("{}: is of an earlier call, and not a part of this folder: remove it",
                  text::printable(other.native()));
  return result.failed.empty() && result.others.empty() ? ExitCode::ok : ExitCode::some_failed;
}

ExitCode unpack(const UnpackArgs& args) {
  logging::start_log(0);
  for (const std::filesystem::path& archive : args.request.archives) check_exists(archive);
  app::UnpackResult result;
  const ExitCode signal_code = stoppable(
      [&](const std::stop_token& stop) {
        CountProgress progress("file", "unpacked");
        result = app::unpack(
            args.request, [&](std::int64_t files) { progress.show(files); }, stop);
      },
      ExitCode::ok);
  log_failures(result.failed);
  if (args.json) {
    const text::Json json = {{"kind", "unpack"},
                             {"folder", args.request.folder.native()},
                             {"files", result.files},
                             {"bytes", result.bytes},
                             {"failed", result.failed.size()}};
    std::printf("%s\n", text::dump_json(json).c_str());
  } else {
    std::printf("%s: %s, %s\n", text::printable(args.request.folder.native()).c_str(),
                text::format_count(result.files, "file").c_str(),
                text::format_megabytes(result.bytes).c_str());
  }
  if (signal_code != ExitCode::ok) return signal_code;
  if (result.files == 0 && !result.failed.empty()) return ExitCode::nothing_readable;
  return result.failed.empty() ? ExitCode::ok : ExitCode::some_failed;
}

}  // namespace

void add_pack(CLI::App& app, Action& action) {
  auto args = std::make_shared<PackArgs>();
  CLI::App* command =
      app.add_subcommand("pack", "Pack the files of a folder into tar archives, which are inputs")
          ->group(kManyMachinesCommands);
  command->add_option("FOLDER", args->request.folder, "Folder whose files are packed")->required();
  command
      ->add_option("-o,--output", args->request.archive,
                   "Archive to write, with an index for NVIDIA DALI beside it (.idx)")
      ->required()
      ->type_name("FILE.tar");
  constexpr std::int64_t kMax = 1'000'000'000;
  command
      ->add_option("--files", args->request.max_files,
                   "Begin another archive after this many files: FILE-000001.tar and so on")
      ->type_name("N")
      ->check(number_between(std::int64_t(1), kMax));
  command
      ->add_option("--megabytes", args->max_mb,
                   "Begin another archive after this many megabytes of files")
      ->type_name("N")
      ->check(number_between(std::int64_t(1), kMax));
  command->add_flag("--overwrite", args->request.overwrite,
                    "Replace archives that exist with other content");
  command->add_flag("--json", args->json, "Print one JSON object");
  describe(*command,
           {.usage = {"FOLDER -o FILE.tar [OPTIONS]"},
            .examples = {{"One archive", "eckart pack scans -o scans.tar"},
                         {"Archives of about 1 GB, as inputs of many machines",
                          "eckart pack scans -o packed/scans.tar --megabytes 1000"},
                         {"Process an archive like a folder", "eckart run scans.tar -o results"}},
            .exit_codes = {ExitCode::ok, ExitCode::some_failed, ExitCode::usage,
                           ExitCode::nothing_readable, ExitCode::no_input, ExitCode::cannot_create,
                           ExitCode::io_error, ExitCode::no_permission, ExitCode::hung_up,
                           ExitCode::interrupted, ExitCode::terminated}});
  command->callback([args, &action] { action = [args] { return pack(*args); }; });
}

void add_unpack(CLI::App& app, Action& action) {
  auto args = std::make_shared<UnpackArgs>();
  CLI::App* command = app.add_subcommand("unpack", "Write the files in tar archives to a folder")
                          ->group(kManyMachinesCommands);
  command->add_option("ARCHIVE", args->request.archives, "Tar archives, not compressed")
      ->required();
  command
      ->add_option("-o,--output", args->request.folder,
                   "Folder for the files; created if missing. Files in it are not replaced")
      ->required()
      ->type_name("FOLDER");
  command->add_flag("--json", args->json, "Print one JSON object");
  describe(*command,
           {.usage = {"ARCHIVE... -o FOLDER [OPTIONS]"},
            .examples = {{"One archive", "eckart unpack scans.tar -o scans"},
                         {"All archives of a job", "eckart unpack results/*.tar -o images"},
                         {"The numbers for a script", "eckart unpack scans.tar -o scans --json"}},
            .exit_codes = {ExitCode::ok, ExitCode::some_failed, ExitCode::usage,
                           ExitCode::nothing_readable, ExitCode::no_input, ExitCode::cannot_create,
                           ExitCode::io_error, ExitCode::no_permission, ExitCode::hung_up,
                           ExitCode::interrupted, ExitCode::terminated}});
  command->callback([args, &action] { action = [args] { return unpack(*args); }; });
}

}  // namespace eckart::cli
