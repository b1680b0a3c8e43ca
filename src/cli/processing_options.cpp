#include "cli/processing_options.hpp"

#include "cli/enum_option.hpp"
#include "core/error.hpp"
#include "settings/value_types.hpp"

namespace eckart::cli {

settings::Configuration read_configuration(const ProcessingArgs& args) {
  settings::Configuration configuration = read_configuration(args.config);
  settings::Settings& settings = configuration.settings;
  apply_rank_option(settings, args.rank);
  apply_flag(settings, "--backend", "backend", args.backend);
  apply_flag(settings, "--solver", "solver", args.solver);
  apply_flag(settings, "--format", "output.format", args.format);
  apply_flag(settings, "--name", "output.name", args.name);
  apply_flag(settings, "--residual", "output.residual", args.residual);
  apply_flag(settings, "--factors", "output.factors", args.factors);
  apply_flag(settings, "--pack", "output.pack", args.pack);
  apply_preparation_flags(settings, args.preparation);
  apply_flag(settings, "--peak", "quality.peak", args.peak);
  if (args.deterministic) settings.deterministic = true;
  if (args.wait_for_space) settings.wait_for_space = true;
  return configuration;
}

void add_reconstruction_options(CLI::App& command, ProcessingArgs& args) {
  add_color_options(command, args.preparation, "Preparation");
  add_preparation_options(command, args.preparation, "Preparation");
  const settings::Settings defaults;
  const char* const group = "Reconstruction";
  add_rank_option(command, args.rank)->group(group);
  add_enum_name_option(command, "--backend", args.backend,
                       "Where to compute: auto is cuda if there is a GPU and enough work, checked "
                       "compares cuda with cpu",
                       defaults.backend)
      ->group(group);
  add_enum_name_option(command, "--solver", args.solver,
                       "SVD algorithm: auto takes the fastest for each size; subspace computes in "
                       "float32 and checks the loss, the others in float64",
                       defaults.solver)
      ->group(group);
  command
      .add_flag("--deterministic", args.deterministic,
                "On CUDA, the same bytes in every run, whatever the batches; slower")
      ->group(group);
}

void add_format_options(CLI::App& command, ProcessingArgs& args) {
  const char* const group = "Output";
  add_enum_name_option(command, "--format", args.format,
                       "File format of the outputs; none: measure them, and write nothing",
                       settings::OutputSettings{}.format)
      ->group(group);
  add_name_option(command, args.name)->group(group);
  command
      .add_flag("--residual{auto}", args.residual,
                "Also write each input - output as an image, around half of the range, with the "
                "largest gain that clips nothing or, with --residual=4, the gain 4")
      ->group(group);
  command
      .add_flag("--factors{float32}", args.factors,
                "Also write U, s and Vt of each input to a .npz file, in float32 or, with "
                "--factors=float16, float16; with --format none, instead of images")
      ->group(group);
}

void add_pack_option(CLI::App& command, ProcessingArgs& args, const std::string& what) {
  add_enum_name_option(command, "--pack", args.pack, what, settings::OutputSettings{}.pack)
      ->group("Output");
}

void add_wait_for_space_option(CLI::App& command, ProcessingArgs& args) {
  command
      .add_flag("--wait-for-space", args.wait_for_space,
                "Wait for space when the disk is full, instead of exiting with 74")
      ->group("Output");
}

void check_residual(const ProcessingArgs& args, const settings::OutputSettings& output) {
  if (args.residual && output.residual.is_written() && output.format == OutputFormat::none)
    throw FatalError(ExitCode::usage,
                     "--residual cannot be combined with output.format none: residuals are images");
}

}  // namespace eckart::cli
