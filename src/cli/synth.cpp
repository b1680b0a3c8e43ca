#include "synth/synth.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/enum_option.hpp"
#include "cli/help.hpp"
#include "codec/codec.hpp"
#include "flow/workers.hpp"
#include "io/environment_error.hpp"
#include "io/publication.hpp"
#include "machine/usable_cores.hpp"
#include "text/format_count.hpp"
#include "text/printable.hpp"

namespace eckart::cli {
namespace {

constexpr int kMaxSide = int(ImageLimits{}.side);  // the default limit of a run

struct SynthArgs {
  std::filesystem::path output;
  std::vector<std::string> kinds = {"all"}, sizes = {"256"};
  int count = 10, channels = synth::SynthSpec{}.channels, depth = 8, rank = synth::SynthSpec{}.rank;
  double noise = 0;
  OutputFormat format = OutputFormat::png;
  std::uint32_t seed = 1;
};

/// Parses RxC, or N for NxN. Returns {0, 0} if the text is not a valid size.
std::pair<int, int> parse_size(const std::string& text) {
  const char* const end = text.data() + text.size();
  int rows = 0, cols = 0;
  auto [rest, error] = std::from_chars(text.data(), end, rows);
  if (error != std::errc{}) return {0, 0};
  cols = rows;
  if (rest != end && *rest == 'x') {
    const auto second = std::from_chars(rest + 1, end, cols);
    if (second.ec != std::errc{}) return {0, 0};
    rest = second.ptr;
  }
  const auto is_valid = [](int side) { return side >= 1 && side <= kMaxSide; };
  return rest == end && is_valid(rows) && is_valid(cols) ? std::pair{rows, cols} : std::pair{0, 0};
}

std::string check_size(const std::string& text) {
  if (parse_size(text).first > 0) return "";
  return text + " is not a size; use 256, or 480x640 for 480 rows and 640 columns, sides up to " +
         std::to_string(kMaxSide);
}

std::vector<synth::SynthKind> chosen_kinds(const SynthArgs& args) {
  std::vector<synth::SynthKind> kinds;
  for (const synth::SynthKind kind : synth::kSynthKinds) {
    const auto named = [&](const std::string& name) {
      return name == "all" || name == to_string(kind);
    };
    if (std::any_of(args.kinds.begin(), args.kinds.end(), named)) kinds.push_back(kind);
  }
  return kinds;
}

/// Returns one spec for each kind and size. Images of one spec differ by their seeds.
std::vector<synth::SynthSpec> chosen_specs(const SynthArgs& args) {
  std::vector<synth::SynthSpec> specs;
  for (const synth::SynthKind kind : chosen_kinds(args)) {
    for (const std::string& size : args.sizes) {
      const auto [rows, cols] = parse_size(size);
      specs.push_back({kind, rows, cols, args.channels, args.depth == 8 ? Depth::u8 : Depth::u16,
                       args.rank, args.noise, 0});
    }
  }
  return specs;
}

/// Checks that the options are compatible. Throws CLI::ValidationError.
void check_combinations(const SynthArgs& args) {
  if ((args.format == OutputFormat::jpeg || args.format == OutputFormat::webp) &&
      args.depth == 16) {
    throw CLI::ValidationError(
        "--depth", to_string(args.format) + " has 8 bits per sample; use --format png for 16");
  }
  for (const synth::SynthSpec& spec : chosen_specs(args)) {
    if (spec.kind == synth::SynthKind::low_rank && spec.rank > std::min(spec.rows, spec.cols)) {
      throw CLI::ValidationError("--rank", "low-rank images of " + std::to_string(spec.rows) + "x" +
                                               std::to_string(spec.cols) + " have no rank " +
                                               std::to_string(spec.rank));
    }
  }
}

/// Writes image `number` of a spec. The image depends only on the spec, --seed and `number`.
void write_image(const SynthArgs& args, const codec::Codec& codec, synth::SynthSpec spec,
                 int number) {
  spec.seed = (std::uint64_t(args.seed) << 32) + std::uint64_t(number);
  char name[96];
  std::snprintf(name, sizeof name, "%s_%dx%d_%04d.%s", std::string(to_string(spec.kind)).c_str(),
                spec.rows, spec.cols, number, std::string(codec.extension).c_str());
  io::publish_new_file(args.output / name, codec.encode(synth::synthesize(spec), {}));
}

void write_images(const SynthArgs& args, const std::vector<synth::SynthSpec>& specs) {
  const codec::Codec& codec = codec::codec_for(args.format);
  const std::int64_t images = std::int64_t(specs.size()) * args.count;
  const auto cores = std::int64_t(machine::usable_cores());
  std::atomic<std::int64_t> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  flow::Workers workers(
      "synth", int(std::min(cores, images)),
      [&](int) {
        for (std::int64_t i; (i = next++) < images;) {
          write_image(args, codec, specs[std::size_t(i / args.count)], int(i % args.count) + 1);
        }
      },
      [&](std::exception_ptr error) {
        next = images;
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::move(error);
      });
  workers.join();
  if (failure) std::rethrow_exception(failure);
}

ExitCode execute(const SynthArgs& args) {
  std::error_code error;
  std::filesystem::create_directories(args.output, error);
  if (error)
    io::fail_to_create(error.value(), "cannot create " + text::printable(args.output.native()) +
                                          ": " + error.message());
  const std::vector<synth::SynthSpec> specs = chosen_specs(args);
  try {
    write_images(args, specs);
  } catch (const ItemError& failure) {
    if (failure.reason() == FailureReason::output_collision)
      throw FatalError(ExitCode::cannot_create,
                       std::string(failure.what()) + ": move it away, or use another folder");
    throw FatalError(
        ExitCode::io_error,
        "cannot write into " + text::printable(args.output.native()) + ": " + failure.what());
  }
  std::string kinds;
  for (const synth::SynthKind kind : chosen_kinds(args))
    kinds += " " + std::string(to_string(kind));
  const std::int64_t images = std::int64_t(specs.size()) * args.count;
  std::printf("%s in %s:%s; %d bits, %s, %s\n", text::format_count(images, "image").c_str(),
              text::printable(args.output.native()).c_str(), kinds.c_str(), args.depth,
              text::format_count(args.channels, "channel").c_str(), to_string(args.format).c_str());
  return ExitCode::ok;
}

}  // namespace

void add_synth(CLI::App& app, Action& action) {
  auto args = std::make_shared<SynthArgs>();
  CLI::App* synth =
      app.add_subcommand("synth",
                         "Generate test images: phantoms, textures, known rank, known noise")
          ->group("Test images");
  std::vector<std::string> kinds = {"all"};
  for (const synth::SynthKind kind : synth::kSynthKinds) kinds.emplace_back(to_string(kind));
  const char* const content = "Content";
  synth->option_defaults()->always_capture_default();
  synth->add_option("-o,--output", args->output, "Output folder; created if missing")
      ->required()
      ->type_name("FOLDER")
      ->group("Output");
  add_enum_option(*synth, "--format", args->format, "File format", file_formats())->group("Output");
  synth->add_option("--kind", args->kinds, "Kinds of images, separated by commas")
      ->type_name("LIST")
      ->delimiter(',')
      ->check(one_of(kinds))
      ->group(content);
  synth->add_option("--count", args->count, "Images per kind and size")
      ->type_name("N")
      ->check(number_between(1, 100000000))
      ->group(content);
  synth->add_option("--size", args->sizes, "ROWSxCOLS, or N for a square; separated by commas")
      ->type_name("LIST")
      ->delimiter(',')
      ->check(check_size)
      ->group(content);
  synth->add_option("--channels", args->channels, "1 is gray, 3 is RGB")
      ->type_name("N")
      ->check(one_of({"1", "3"}))
      ->group(content);
  synth->add_option("--depth", args->depth, "Bits per sample")
      ->type_name("N")
      ->check(one_of({"8", "16"}))
      ->group(content);
  synth->add_option("-k,--rank", args->rank, "Exact rank of low-rank images")
      ->type_name("RANK")
      ->check(number_between(1, kMaxSide))
      ->group(content);
  synth
      ->add_option("--noise", args->noise, "Standard deviation of Gaussian noise, in sample levels")
      ->type_name("LEVELS")
      ->check(number_between(0.0, double(peak(Depth::u16))))
      ->group(content);
  synth->add_option("--seed", args->seed, "Seed of the random generator")
      ->type_name("N")
      ->group(content);
  describe(*synth, {.usage = {"-o FOLDER [OPTIONS]"},
                    .examples = {{"10 images of each kind, 256 x 256", "eckart synth -o images"},
                                 {"Images of rank 20 with noise",
                                  "eckart synth -o noisy --kind low-rank --rank 20 --noise 5"},
                                 {"Color photographs of 480 rows and 640 columns, as JPEG",
                                  "eckart synth -o photos --kind texture --size 480x640 "
                                  "--channels 3 --format jpeg"}},
                    .exit_codes = {ExitCode::ok, ExitCode::usage, ExitCode::cannot_create,
                                   ExitCode::io_error, ExitCode::no_permission}});
  synth->callback([args, &action] {
    check_combinations(*args);
    action = [args] { return execute(*args); };
  });
}

}  // namespace eckart::cli
