#include "app/prune.hpp"

#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <memory>
#include <string>

#include "cli/commands.hpp"
#include "cli/existing_path.hpp"
#include "cli/help.hpp"
#include "text/format_count.hpp"
#include "text/json.hpp"
#include "text/printable.hpp"

namespace eckart::cli {
namespace {

struct PruneArgs {
  app::PruneRequest request;
  bool yes = false, json = false;
};

void print(const char* what, const app::Orphan& orphan) {
  std::printf("%s %s (its input %s no longer exists)\n", what,
              text::printable(orphan.output).c_str(), text::printable(orphan.input).c_str());
}

std::string files_text(std::size_t count) {
  return text::format_count(std::int64_t(count), "file");
}

void print_kept(const app::Orphans& orphans, bool include_empty) {
  for (const app::Orphan& orphan : orphans.modified)
    print("kept, because it was modified:", orphan);
  if (orphans.without_mtime > 0)
    std::printf("%lld kept: no modification time was recorded\n",
                static_cast<long long>(orphans.without_mtime));
  for (const auto& [root, count] : orphans.uncertain) {
    std::printf("%lld kept, of %s: %s\n", static_cast<long long>(count),
                text::printable(root).c_str(),
                app::uncertain_orphans_text(root, include_empty).c_str());
  }
}

bool confirm(std::size_t count) {
  if (::isatty(STDIN_FILENO) == 0 || ::isatty(STDOUT_FILENO) == 0) return false;
  std::printf("Remove %s? [y/N] ",
              count == 1 ? "this file" : ("these " + files_text(count)).c_str());
  std::fflush(stdout);
  std::string answer;
  return std::getline(std::cin, answer) && (answer == "y" || answer == "yes");
}

void print_line(const text::Json& json) { std::printf("%s\n", text::dump_json(json).c_str()); }

text::Json orphan_json(const char* kind, const app::Orphan& orphan) {
  return {{"kind", kind}, {"output", orphan.output}, {"input", orphan.input}};
}

text::Json removal_json(const app::Orphan& orphan, bool is_removed) {
  text::Json json = orphan_json("prune_output", orphan);
  json["removed"] = is_removed;
  return json;
}

/// Never asks. Without --yes, lists what would be removed.
ExitCode print_json(const PruneArgs& args) {
  std::size_t removed = 0;
  const app::Orphans orphans = args.yes ? app::prune(args.request,
                                                     [&](const app::Orphan& orphan) {
                                                       print_line(removal_json(orphan, true));
                                                       ++removed;
                                                     })
                                        : app::find_orphans(args.request);
  if (!args.yes) {
    for (const app::Orphan& orphan : orphans.removable) print_line(removal_json(orphan, false));
  }
  for (const app::Orphan& orphan : orphans.modified) print_line(orphan_json("prune_kept", orphan));
  text::Json uncertain = text::Json::object();
  for (const auto& [root, count] : orphans.uncertain) uncertain[root] = count;
  print_line({{"kind", "prune_summary"},
              {"removable", orphans.removable.size()},
              {"removed", removed},
              {"kept_modified", orphans.modified.size()},
              {"kept_without_mtime", orphans.without_mtime},
              {"kept_uncertain", uncertain}});
  return ExitCode::ok;
}

ExitCode prune(const PruneArgs& args) {
  if (args.request.ledger.is_auto()) check_exists(args.request.output);
  if (args.json) return print_json(args);
  if (!args.yes) {
    const app::Orphans orphans = app::find_orphans(args.request);
    for (const app::Orphan& orphan : orphans.removable) print("would remove", orphan);
    print_kept(orphans, args.request.include_empty);
    if (orphans.removable.empty()) {
      std::printf("nothing to remove\n");
      return ExitCode::ok;
    }
    if (!confirm(orphans.removable.size())) {
      const std::size_t count = orphans.removable.size();
      std::printf("%s would be removed; use --yes to remove %s\n", files_text(count).c_str(),
                  count == 1 ? "it" : "them");
      return ExitCode::ok;
    }
  }
  std::size_t removed = 0;
  const app::Orphans orphans = app::prune(args.request, [&](const app::Orphan& orphan) {
    print("removed", orphan);
    ++removed;
  });
  if (args.yes) print_kept(orphans, args.request.include_empty);  // else printed before
  std::printf("%s removed\n", files_text(removed).c_str());
  return ExitCode::ok;
}

}  // namespace

void add_prune(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("prune", "Remove outputs whose inputs no longer exist, after a question")
          ->group(kOutputCommands);
  auto args = std::make_shared<PruneArgs>();
  command->add_option("FOLDER", args->request.output, "Output folder")->required();
  add_ledger_option(*command, args->request.ledger);
  command->add_flag("--yes", args->yes,
                    "Remove without asking; without this option and a terminal, only list");
  command->add_flag(
      "--include-empty", args->request.include_empty,
      "Include outputs whose folder has no inputs left, or was deleted from an input folder");
  command->add_flag("--json", args->json, "Print a JSON line per output, and never ask");
  describe(
      *command,
      {.usage = {"FOLDER [OPTIONS]"},
       .examples = {{"List them, and ask", "eckart prune out"},
                    {"Remove them without a question", "eckart prune out --yes"},
                    {"Also those of deleted input folders", "eckart prune out --include-empty"}},
       .exit_codes = kLedgerExitCodes});
  command->callback([args, &action] { action = [args] { return prune(*args); }; });
}

}  // namespace eckart::cli
