#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <system_error>
#include <variant>

#include "app/ledger_import.hpp"
#include "app/shard_files.hpp"
#include "app/shard_ledger.hpp"
#include "cli/commands.hpp"
#include "cli/existing_path.hpp"
#include "cli/help.hpp"
#include "cli/ledger_lines.hpp"
#include "files/file_descriptor.hpp"
#include "text/format_count.hpp"
#include "text/json.hpp"
#include "text/printable.hpp"

namespace eckart::cli {
namespace {

struct LedgerArgs {
  std::filesystem::path output, file;
  settings::FileChoice ledger;
  bool json = false;  ///< of import
};

void export_lines(const LedgerArgs& args, std::ostream& stream) {
  const auto check = [&] {
    if (stream) return;
    const std::string reason = std::strerror(errno);
    const std::string name = &stream == &std::cout ? "stdout" : text::printable(args.file.native());
    throw FatalError(ExitCode::io_error, name + ": cannot be written: " + reason);
  };
  const auto write = [&](const std::string& line) {
    stream << line << '\n';
    check();
  };
  write(header_line());
  app::visit_ledger(args.output, args.ledger,
                    {.settings = [&](const auto& text) { write(settings_line(text)); },
                     .output = [&](const auto& entry) { write(output_line(entry)); },
                     .failure = [&](const auto& failure) { write(failure_line(failure)); }});
  stream.flush();
  check();
}

[[noreturn]] void fail_to_create(const std::filesystem::path& file, int error) {
  throw FatalError(
      ExitCode::cannot_create,
      file.string() + ": " +
          (error == EEXIST ? "the file already exists" : std::generic_category().message(error)));
}

/// Never opens an existing file, whatever its type.
void create_new_file(const std::filesystem::path& file) {
  const files::FileDescriptor created(
      ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!created) fail_to_create(file, errno);
}

ExitCode export_ledger(const LedgerArgs& args) {
  const bool to_stdout = args.file.empty() || args.file == "-";
  std::ofstream file;
  static_cast<void>(
      app::open_existing_ledger(args.output, args.ledger));  // before anything is written
  if (!to_stdout) {
    create_new_file(args.file);
    file.open(args.file, std::ios::binary);
    if (!file) fail_to_create(args.file, errno);
  }
  std::ostream& stream = to_stdout ? std::cout : file;
  try {
    export_lines(args, stream);
  } catch (...) {  // no incomplete file is left
    std::error_code ignored;
    if (!to_stdout) std::filesystem::remove(args.file, ignored);
    throw;
  }
  return ExitCode::ok;
}

void for_each_line(const std::filesystem::path& path,
                   const std::function<void(const LedgerLine& line)>& visit) {
  std::error_code none;
  if (std::filesystem::is_fifo(path, none))
    throw FatalError(ExitCode::no_input, path.string() + ": cannot be read: not a regular file");
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    const std::error_code error(errno, std::generic_category());
    const bool is_forbidden = error == std::errc::permission_denied;
    throw FatalError(is_forbidden ? ExitCode::no_permission : ExitCode::no_input,
                     path.string() + ": cannot be read: " + error.message());
  }
  if (!std::filesystem::is_regular_file(path))  // it is read twice
    throw FatalError(ExitCode::no_input, path.string() + ": cannot be read: not a regular file");
  std::int64_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    try {
      if (number == 1) {
        check_header(line);
      } else {
        visit(parse_line(line));
      }
    } catch (const LineError& error) {
      throw FatalError(ExitCode::nothing_readable, path.string() + ":" + std::to_string(number) +
                                                       ": " + error.what() +
                                                       "; nothing was imported");
    }
  }
  if (number == 0)
    throw FatalError(ExitCode::nothing_readable, path.string() + ": the file is empty");
}

void print(const app::ImportCounts& counts, const std::filesystem::path& output) {
  const auto number = [](std::int64_t count) { return static_cast<long long>(count); };
  std::printf("%s: %s imported, %lld already known, %lld missing or changed\n",
              text::printable(output.native()).c_str(),
              text::format_count(counts.outputs, "output").c_str(), number(counts.already_known),
              number(counts.missing));
  if (counts.failures > 0)
    std::printf("%s imported\n", text::format_count(counts.failures, "failure").c_str());
}

void print_json(const app::ImportCounts& counts, const std::filesystem::path& output) {
  const text::Json json = {{"kind", "ledger_import"},
                           {"output_folder", output.native()},
                           {"outputs", counts.outputs},
                           {"already_known", counts.already_known},
                           {"missing_or_changed", counts.missing},
                           {"failed", counts.failures}};
  std::printf("%s\n", text::dump_json(json).c_str());
}

ExitCode import_ledger(const LedgerArgs& args) {
  check_exists(args.file);
  for_each_line(args.file, [](const LedgerLine&) {});  // validates the whole file before any change
  static_cast<void>(app::open_folder(args.output));
  app::LedgerImport import(args.output, args.ledger);
  for_each_line(args.file, [&](const LedgerLine& line) {
    if (const auto* settings = std::get_if<SettingsText>(&line)) {
      import.add_settings(settings->text);
    } else if (const auto* entry = std::get_if<ledger::OutputEntry>(&line)) {
      import.add(*entry);
    } else {
      import.add(std::get<ledger::FailureEntry>(line));
    }
  });
  const app::ImportCounts counts = import.finish();
  args.json ? print_json(counts, args.output) : print(counts, args.output);
  return ExitCode::ok;
}

/// Imports the ledgers of all shards, so that commands that change the folder know their outputs.
ExitCode merge_shards(const LedgerArgs& args) {
  if (app::shard_ledgers(args.output).empty())
    throw FatalError(ExitCode::no_input, text::printable(args.output.native()) +
                                             ": no shard was processed to this folder");
  app::LedgerImport import(args.output, args.ledger);  // from here on, no shard is processed
  const auto merged = app::MergedLedger::of(args.output);
  if (!merged) return ExitCode::ok;
  app::visit_ledger(args.output, merged->choice(),
                    {.settings = [&](const auto& text) { import.add_settings(text); },
                     .output = [&](const auto& entry) { import.add(entry); },
                     .failure = [&](const auto& failure) { import.add(failure); }});
  const app::ImportCounts counts = import.finish();
  merged->remove_sources();
  args.json ? print_json(counts, args.output) : print(counts, args.output);
  return ExitCode::ok;
}

}  // namespace

void add_ledger(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand(
             "ledger",
             "Export the ledger of an output folder, import one, or merge those of shards")
          ->group(kOutputCommands);
  command->require_subcommand(1);
  auto args = std::make_shared<LedgerArgs>();
  const auto add_json_flag = [&](CLI::App& app_or_step) {
    app_or_step.add_flag("--json", args->json, "Print the counts of an import as one JSON object");
  };
  add_ledger_option(*command, args->ledger);
  add_json_flag(*command);
  const auto add = [&](const char* name, const char* what, ExitCode (*work)(const LedgerArgs&)) {
    CLI::App* step = command->add_subcommand(name, what)->group("Commands");
    step->add_option("FOLDER", args->output, "Output folder")->required();
    add_ledger_option(*step, args->ledger);
    step->callback([args, work, &action] {
      action = [args, work] {
        if (args->ledger.is_auto()) check_exists(args->output);
        return work(*args);
      };
    });
    return step;
  };
  const Example to_file = {"Export to a file", "eckart ledger export out ledger.jsonl"},
                to_stdout = {"Count the failures",
                             "eckart ledger export out | grep -c '\"kind\":\"ledger_failure\"'"},
                from_file = {"Import into a moved output folder",
                             "eckart ledger import moved/out ledger.jsonl"},
                elsewhere = {"A ledger in another place",
                             "eckart ledger export out --ledger /var/lib/eckart/out.db"},
                into_file = {"Into a ledger in another place",
                             "eckart ledger import out ledger.jsonl --ledger "
                             "/var/lib/eckart/out.db"},
                from_pipe = {"From another machine",
                             "ssh nas eckart ledger export out > ledger.jsonl && "
                             "eckart ledger import out ledger.jsonl"};
  std::vector<ExitCode> codes = kLedgerExitCodes;
  codes.insert(std::find(codes.begin(), codes.end(), ExitCode::io_error), ExitCode::cannot_create);
  CLI::App* export_step = add("export", "Export the ledger as JSON lines", export_ledger);
  export_step->add_option("FILE", args->file, "New file; stdout if there is none");
  describe(*export_step, {.usage = {"FOLDER [FILE]"},
                          .examples = {to_file, to_stdout, elsewhere},
                          .exit_codes = codes});
  CLI::App* import_step = add("import", "Import JSON lines into the ledger", import_ledger);
  import_step->add_option("FILE", args->file, "File written by export")->required();
  add_json_flag(*import_step);
  describe(*import_step, {.usage = {"FOLDER FILE"},
                          .examples = {from_file, into_file, from_pipe},
                          .exit_codes = kLedgerExitCodes});
  CLI::App* merge_step = add("merge", "Import the ledgers of all shards", merge_shards);
  add_json_flag(*merge_step);
  describe(*merge_step, {.usage = {"FOLDER"},
                         .examples = {{"When all shards are done", "eckart ledger merge out"}},
                         .exit_codes = kLedgerExitCodes});
  describe(*command, {.usage = {"export FOLDER [FILE]", "import FOLDER FILE", "merge FOLDER"},
                      .examples = {to_file, to_stdout, from_file},
                      .exit_codes = codes});
}

}  // namespace eckart::cli
