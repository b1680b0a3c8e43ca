#include <spdlog/spdlog.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "app/work_list.hpp"
#include "broker/queue_publisher.hpp"
#include "cli/amqp_options.hpp"
#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/count_progress.hpp"
#include "cli/existing_path.hpp"
#include "cli/help.hpp"
#include "cli/input_options.hpp"
#include "cli/processing_options.hpp"
#include "flow/pause.hpp"
#include "logging/log.hpp"
#include "text/format_count.hpp"
#include "text/json.hpp"
#include "text/printable.hpp"
#include "text/unread_files_text.hpp"

namespace eckart::cli {
namespace {

struct EnqueueArgs : ProcessingArgs, InputArgs {
  AmqpArgs amqp;
  std::int64_t images_per_message = app::WorkListRequest{}.images_per_message;
  std::filesystem::path output;
  bool scan = false, json = false;
};

/// A broker that is killed in the first half second of a queue may lose confirmed messages.
constexpr std::chrono::milliseconds kNewQueuePause{1000};

settings::Settings read_settings(const EnqueueArgs& args) {
  settings::Settings settings = read_configuration(args).settings;
  check_residual(args, settings.output);
  if (!settings.output.writes_files())
    throw FatalError(ExitCode::usage, "output.format none: workers write files");
  return settings;
}

app::WorkList list_work(const EnqueueArgs& args) {
  const app::WorkListRequest request{.sources = {.inputs = args.inputs,
                                                 .files_from = args.list(),
                                                 .files_from_separator = args.separator()},
                                     .settings = read_settings(args),
                                     .images_per_message = args.images_per_message,
                                     .scanned_output = args.scan ? args.output : ""};
  CountProgress progress("image", "listed");
  return app::list_work(request, [&](std::int64_t images) { progress.show(images); });
}

void check_arguments(const EnqueueArgs& args) {
  if (args.amqp.url.empty()) throw FatalError(ExitCode::usage, "no broker: give --amqp URL");
  if (args.inputs.empty() && args.list().empty())
    throw FatalError(ExitCode::usage, "no input: give folders, files or --files-from");
  if (args.scan && args.output.empty())
    throw FatalError(ExitCode::usage, "--scan needs the output folder: give -o FOLDER");
  if (!args.scan && !args.output.empty())
    throw FatalError(ExitCode::usage, "-o is for --scan; the workers have the output folder");
  for (const std::filesystem::path& input : args.inputs) check_exists(input);
}

void print(const EnqueueArgs& args, const app::WorkList& work, const std::string& broker) {
  if (args.json) {
    const text::Json json = {{"kind", "enqueue"},
                             {"queue", args.amqp.queue.name},
                             {"images", work.images},
                             {"messages", work.messages.size()},
                             {"done", args.scan ? text::Json(work.done) : text::Json()},
                             {"failed", work.failed.size()},
                             {"ignored", work.ignored}};
    std::printf("%s\n", text::dump_json(json).c_str());
    return;
  }
  const std::string queue = text::printable(args.amqp.queue.name);
  std::printf("published %s in %s to the queue %s of %s\n",
              text::format_count(work.images, "image").c_str(),
              text::format_count(std::int64_t(work.messages.size()), "message").c_str(),
              queue.c_str(), broker.c_str());
  if (args.scan) std::printf("%s already done\n", text::format_count(work.done, "image").c_str());
}

ExitCode enqueue(const EnqueueArgs& args) {
  logging::start_log(0);
  check_arguments(args);
  const broker::ConnectionOptions connection = connection_options(args.amqp, "enqueue");
  const app::WorkList work = list_work(args);
  for (const auto& [path, why] : work.failed)
    spdlog::error("{}: {}; it is in no message", text::printable(path.native()),
                  text::printable_message(why));
  if (!work.not_read.empty()) spdlog::warn("{}", text::unread_files_text(work.not_read));
  broker::QueuePublisher publisher({.connection = connection, .queue = args.amqp.queue});
  if (publisher.is_new_queue()) flow::pause(kNewQueuePause, {});
  for (const broker::WorkMessage& message : work.messages)
    publisher.publish(broker::to_json(message));
  publisher.flush();
  print(args, work, broker::to_string(connection.address));
  return work.failed.empty() ? ExitCode::ok : ExitCode::some_failed;
}

}  // namespace

void add_enqueue(CLI::App& app, Action& action) {
  auto args = std::make_shared<EnqueueArgs>();
  CLI::App* command =
      app.add_subcommand("enqueue", "Publish images to a queue of RabbitMQ, for eckart worker")
          ->group(kManyMachinesCommands);
  add_input_options(
      *command, *args,
      "Folders (searched recursively), tar archives and image files, with the same paths on all "
      "machines");
  add_amqp_options(*command, args->amqp, true);
  constexpr std::int64_t kMaxImages = broker::kMaxWorkImages;
  command
      ->add_option("--images-per-message", args->images_per_message,
                   "Images of a message, at most, which one worker takes together")
      ->type_name("N")
      ->check(number_between(std::int64_t(1), kMaxImages))
      ->capture_default_str()
      ->group("RabbitMQ");
  add_reconstruction_options(*command, *args);
  command
      ->add_flag("--scan", args->scan,
                 "Publish only images that have no output in the ledgers of -o, for example after "
                 "the broker has lost its messages")
      ->group("Output");
  command->add_option("-o,--output", args->output, "Output folder of the workers, for --scan")
      ->type_name("FOLDER")
      ->group("Output");
  add_format_options(*command, *args);
  add_config_options(*command, args->config, false);
  add_peak_option(*command, args->peak)->group("Reports and log");
  command->add_flag("--json", args->json, "Print one JSON object")->group("Reports and log");
  describe(
      *command,
      {.usage = {"INPUT... --amqp URL [OPTIONS]", "INPUT... --amqp URL --scan -o FOLDER [OPTIONS]"},
       .examples = {{"Publish the images of a folder, for workers with the same settings",
                     "eckart enqueue scans --amqp amqp://broker --rank 20"},
                    {"Over TLS, with user and password from a file",
                     "eckart enqueue scans --amqp amqps://broker --amqp-credentials amqp.txt"},
                    {"Publish again what has no output, after the broker lost its messages",
                     "eckart enqueue scans --amqp amqp://broker --rank 20 --scan -o results"}},
       .exit_codes = {ExitCode::ok, ExitCode::some_failed, ExitCode::usage, ExitCode::no_input,
                      ExitCode::unavailable, ExitCode::io_error, ExitCode::no_permission,
                      ExitCode::configuration}});
  command->callback([args, &action] { action = [args] { return enqueue(*args); }; });
}

}  // namespace eckart::cli
