#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/make_manifest.hpp"
#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/count_progress.hpp"
#include "cli/existing_path.hpp"
#include "cli/help.hpp"
#include "cli/input_options.hpp"
#include "logging/log.hpp"
#include "text/format_count.hpp"
#include "text/format_number.hpp"
#include "text/json.hpp"
#include "text/printable.hpp"
#include "text/shell_word.hpp"
#include "text/unread_files_text.hpp"

namespace eckart::cli {
namespace {

struct ShardArgs {
  InputArgs inputs;
  app::ManifestRequest request;
  bool json = false;
};

/// "1,398 to 1,402", or "1,400" if all are the same.
template <class Value, class Format>
std::string range_text(const std::vector<io::Shard>& shards, Value io::Shard::*member,
                       const Format& format) {
  const auto [low, high] = std::ranges::minmax_element(shards, {}, member);
  const std::string first = format((*low).*member), last = format((*high).*member);
  return first == last ? first : first + " to " + last;
}

void print_text(const app::ListedInputs& listed, const std::filesystem::path& file) {
  const std::vector<io::Shard>& shards = listed.manifest.shards;
  std::int64_t bytes = 0;
  for (const io::Shard& shard : shards) bytes += shard.image_bytes;
  const std::string name = text::printable(file.native());
  std::printf("%s: %s of %s, %s\n", name.c_str(),
              text::format_count(std::int64_t(shards.size()), "shard").c_str(),
              text::format_count(listed.manifest.images(), "image").c_str(),
              text::format_megabytes(bytes).c_str());
  std::printf("a shard: %s images, %s\n",
              range_text(shards, &io::Shard::images, text::group_digits).c_str(),
              range_text(shards, &io::Shard::image_bytes, text::format_megabytes).c_str());
  std::printf("the first: eckart run --shard %s:1/%zu -o FOLDER\n",
              text::shell_word(file.native()).c_str(), shards.size());
}

void print_json(const app::ListedInputs& listed, const std::filesystem::path& file) {
  text::Json shards = text::Json::array();
  for (const io::Shard& shard : listed.manifest.shards)
    shards.push_back({{"images", shard.images}, {"image_bytes", shard.image_bytes}});
  const text::Json json = {{"kind", "shard"},
                           {"manifest", file.native()},
                           {"id", listed.manifest.id},
                           {"images", listed.manifest.images()},
                           {"failed", listed.failed.size()},
                           {"ignored", listed.ignored},
                           {"shards", shards}};
  std::printf("%s\n", text::dump_json(json).c_str());
}

app::ListedInputs list_inputs(const app::ManifestRequest& request) {
  CountProgress progress("image", "listed");
  return app::make_manifest(request, [&](std::int64_t images) { progress.show(images); });
}

ExitCode shard(const ShardArgs& args) {
  logging::start_log(0);
  app::ManifestRequest request = args.request;
  request.sources = {.inputs = args.inputs.inputs,
                     .files_from = args.inputs.list(),
                     .files_from_separator = args.inputs.separator()};
  const app::InputSources& sources = request.sources;
  if (sources.inputs.empty() && sources.files_from.empty())
    throw FatalError(ExitCode::usage, "no input: give folders, files or --files-from");
  if (request.plan.count == 0 && request.plan.max_images == 0)
    throw FatalError(ExitCode::usage,
                     "give --count, the number of shards, or --images, how many "
                     "images a shard has at most");
  for (const std::filesystem::path& input : sources.inputs) check_exists(input);
  check_not_image("--output", request.manifest);

  const app::ListedInputs listed = list_inputs(request);
  for (const auto& [path, why] : listed.failed)
    spdlog::error("{}: {}; it is in no shard", text::printable(path.native()), why);
  if (!listed.not_read.empty()) spdlog::warn("{}", text::unread_files_text(listed.not_read));
  args.json ? print_json(listed, request.manifest) : print_text(listed, request.manifest);
  return listed.failed.empty() ? ExitCode::ok : ExitCode::some_failed;
}

}  // namespace

void add_shard(CLI::App& app, Action& action) {
  auto args = std::make_shared<ShardArgs>();
  CLI::App* command =
      app.add_subcommand("shard", "Split inputs into shards, for several machines or jobs")
          ->group(kManyMachinesCommands);
  add_input_options(
      *command, args->inputs,
      "Folders (searched recursively), tar archives and image files, with the same paths on all "
      "machines");
  const char* const group = "Shards";
  constexpr std::int64_t kMax = 1'000'000'000;
  CLI::Option* count = command->add_option("--count", args->request.plan.count, "Number of shards")
                           ->type_name("N")
                           ->check(number_between(std::int64_t(1), kMax))
                           ->group(group);
  command
      ->add_option("--images", args->request.plan.max_images,
                   "Images of a shard, at most; shards have about the same number of bytes")
      ->type_name("N")
      ->check(number_between(std::int64_t(1), kMax))
      ->group(group)
      ->excludes(count);
  command
      ->add_option("-o,--output", args->request.manifest,
                   "File to write: the manifest, which eckart run --shard reads")
      ->required()
      ->type_name("FILE")
      ->group("Output");
  command->add_flag("--json", args->json, "Print one JSON object")->group("Output");
  describe(*command,
           {.usage = {"INPUT... --count N -o FILE [OPTIONS]", "INPUT... --images N -o FILE"},
            .examples = {{"Eight shards", "eckart shard scans --count 8 -o scans.manifest"},
                         {"Shards of at most 100,000 images, of several folders",
                          "eckart shard scans photos --images 100000 -o all.manifest"},
                         {"Process the third of eight",
                          "eckart run --shard scans.manifest:3/8 -o results"}},
            .exit_codes = {ExitCode::ok, ExitCode::some_failed, ExitCode::usage, ExitCode::no_input,
                           ExitCode::cannot_create, ExitCode::io_error, ExitCode::no_permission}});
  command->callback([args, &action] { action = [args] { return shard(*args); }; });
}

}  // namespace eckart::cli
