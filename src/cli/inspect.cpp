#include <cstdio>
#include <filesystem>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <system_error>

#include "app/inspect_image.hpp"
#include "cli/commands.hpp"
#include "cli/configuration.hpp"
#include "cli/existing_path.hpp"
#include "cli/help.hpp"
#include "codec/codec.hpp"
#include "core/rank_spec.hpp"
#include "inspection/report.hpp"
#include "io/publication.hpp"
#include "text/printable.hpp"

namespace eckart::cli {
namespace {

struct InspectArgs {
  std::filesystem::path image, sheet, page;
  ConfigArgs config;
  std::optional<std::string> rank, peak;
  PreparationArgs preparation;
  bool overwrite = false, json = false;
};

std::string quoted(const std::string& flag, const std::filesystem::path& file) {
  return flag + " " + text::printable(file.native());
}

/// Throws FatalError if the file may not be written.
void check_output(const std::string& flag, const std::filesystem::path& file,
                  const InspectArgs& args) {
  if (file.empty()) return;
  std::error_code error;
  if (std::filesystem::equivalent(file, args.image, error))
    throw FatalError(ExitCode::usage, quoted(flag, file) + " would overwrite the input");
  if (!args.overwrite && std::filesystem::exists(file, error))
    throw FatalError(ExitCode::cannot_create,
                     quoted(flag, file) + " exists: use another name, or --overwrite");
}

/// The codec that the name of the sheet stands for.
const codec::Codec& sheet_codec(const std::filesystem::path& sheet) {
  const auto format = codec::format_of_file_name(sheet.filename().string());
  if (!format || !codec::codec_for(*format).encode)
    throw FatalError(ExitCode::usage, quoted("-o", sheet) +
                                          ": the name must end with .png, .jpg, .tif, .webp or "
                                          ".ppm");
  return codec::codec_for(*format);
}

void publish(const std::filesystem::path& file, std::span<const std::byte> bytes, bool overwrite) {
  try {
    overwrite ? io::publish_file(file, bytes) : io::publish_new_file(file, bytes);
  } catch (const ItemError& error) {
    const bool is_collision = error.reason() == FailureReason::output_collision;
    throw FatalError(is_collision ? ExitCode::cannot_create : ExitCode::io_error,
                     "cannot write " + text::printable(file.native()) + ": " + error.what());
  }
}

void write_sheet(const InspectArgs& args, const app::InspectedImage& inspected) {
  const codec::Codec& codec = sheet_codec(args.sheet);
  try {
    publish(args.sheet, app::contact_sheet(inspected, codec), args.overwrite);
  } catch (const ItemError& error) {
    throw FatalError(ExitCode::cannot_create, quoted("-o", args.sheet) + ": " + error.what() +
                                                  "; choose another format, or fewer ranks");
  }
}

app::InspectedImage inspect_input(const InspectArgs& args, const settings::Settings& settings) {
  const bool needs_pictures = !args.sheet.empty() || !args.page.empty();
  try {
    return app::inspect_image(args.image, settings, needs_pictures);
  } catch (const std::bad_alloc&) {
    throw FatalError(ExitCode::temporary, text::printable(args.image.native()) +
                                              ": out of memory; make the image smaller, such as "
                                              "with --size max:4000");
  } catch (const ItemError& error) {
    std::error_code ignored;
    const std::string advice = std::filesystem::is_directory(args.image, ignored)
                                   ? "; eckart measure tells of all images of a folder"
                                   : "";
    throw FatalError(ExitCode::nothing_readable,
                     text::printable(args.image.native()) + ": " + error.what() + advice);
  }
}

settings::Settings read_settings(const InspectArgs& args) {
  settings::Settings defaults;
  defaults.ranks.clear();  // those that suit the image
  settings::Settings settings = read_configuration(args.config, kSystemConfig, defaults).settings;
  apply_rank_option(settings, args.rank);
  apply_preparation_flags(settings, args.preparation);
  apply_flag(settings, "--peak", "quality.peak", args.peak);
  settings::check_chroma_rank(settings);
  return settings;
}

ExitCode execute(const InspectArgs& args) {
  const settings::Settings settings = read_settings(args);
  check_exists(args.image);
  check_not_image("--html", args.page);
  if (!args.sheet.empty()) sheet_codec(args.sheet);
  check_output("-o", args.sheet, args);
  check_output("--html", args.page, args);
  const app::InspectedImage inspected = inspect_input(args, settings);
  if (!args.sheet.empty()) write_sheet(args, inspected);
  if (!args.page.empty()) {
    const std::string page = app::inspection_page(inspected);
    publish(args.page, std::as_bytes(std::span(page)), args.overwrite);
  }
  if (args.json) {
    std::printf("%s\n", inspection::to_json(inspected.report).c_str());
  } else {
    std::fputs(inspection::to_text(inspected.report).c_str(), stdout);
  }
  return ExitCode::ok;
}

void add_outputs(CLI::App& command, InspectArgs& args) {
  constexpr const char* kGroup = "Output";
  command
      .add_option("-o,--output", args.sheet,
                  "Contact sheet of the original, each rank and its residual: PNG, JPEG, TIFF, "
                  "WebP or PPM by the name of FILE")
      ->type_name("FILE")
      ->group(kGroup);
  command
      .add_option("--html", args.page,
                  "Page with plots, tables and pictures, which needs no other file")
      ->type_name("FILE")
      ->group(kGroup);
  command.add_flag("--json", args.json, "Print one JSON object instead of tables")->group(kGroup);
  command.add_flag("--overwrite", args.overwrite, "Replace existing files")->group(kGroup);
}

}  // namespace

void add_inspect(CLI::App& app, Action& action) {
  auto args = std::make_shared<InspectArgs>();
  CLI::App* command = app.add_subcommand("inspect", "Show what an image comes to at each rank")
                          ->group(kMeasuringCommands);
  command->add_option("IMAGE", args->image, "Image file")->required();
  add_color_options(*command, args->preparation, "Preparation");
  add_preparation_options(*command, args->preparation, "Preparation");
  add_rank_option(*command, args->rank)
      ->default_str("1,2,5,10,... and the break-even rank")
      ->group("Reconstruction");
  add_peak_option(*command, args->peak)->group("Reconstruction");
  add_outputs(*command, *args);
  add_config_options(*command, args->config, /*has_print_option=*/false);
  describe(*command,
           {.usage = {"IMAGE [OPTIONS]"},
            .examples = {{"Which rank does a photograph need?", "eckart inspect photo.jpg"},
                         {"Look at five ranks",
                          "eckart inspect photo.jpg -k 5,10,20,50,psnr:40 "
                          "-o sheet.png"},
                         {"Luma, with the full chroma of the photograph",
                          "eckart inspect photo.jpg --color luma"},
                         {"A page with plots, tables and pictures",
                          "eckart inspect photo.jpg --html photo.html"}},
            .exit_codes = {ExitCode::ok, ExitCode::usage, ExitCode::nothing_readable,
                           ExitCode::no_input, ExitCode::cannot_create, ExitCode::io_error,
                           ExitCode::temporary, ExitCode::no_permission, ExitCode::configuration}});
  command->callback([args, &action] { action = [args] { return execute(*args); }; });
}

}  // namespace eckart::cli
