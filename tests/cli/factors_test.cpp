// Tests --factors, and files of factors as inputs.
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "analysis/comparison.hpp"
#include "codec/factors_file.hpp"
#include "tests/cli/cli_fixture.hpp"

namespace eckart::test {
namespace {

using Json = nlohmann::json;

class FactorsCliTest : public CliTest {
 protected:
  void write_image(const fs::path& relative, int channels, Depth depth = Depth::u8) {
    write(relative, codec::codec_for(ImageFormat::png)
                        .encode(synth::synthesize({.kind = synth::SynthKind::texture,
                                                   .rows = 40,
                                                   .cols = 56,
                                                   .channels = channels,
                                                   .depth = depth}),
                                {}));
  }
  ProcessResult run_ok(std::vector<std::string> arguments) {
    ProcessResult result = run(arguments);
    EXPECT_EQ(result.code, 0) << result.err;
    return result;
  }
  ImageFactors factors(const fs::path& relative) const {
    const auto file = io::read_file(at(relative), 64);
    return codec::detect_codec(file).decode(file, {}).factors.value();
  }
  double max_error(const fs::path& a, const fs::path& b) const {
    return analysis::compare(decode(a), decode(b)).max_error;
  }
  static std::vector<Json> lines(const std::string& text) {
    std::vector<Json> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(Json::parse(line));
    return lines;
  }
};

/// Images of color modes become the same images again.
TEST_F(FactorsCliTest, restores_images_without_their_pixels) {
  write_image("in/gray.png", 1, Depth::u16);
  write_image("in/rgb.png", 3);
  for (const std::string color : {"ycbcr", "joint"}) {
    const std::string out = "out-" + color, back = "back-" + color;
    run_ok(
        {"run", "in", "-o", out, "--factors", "--color", color, "-k", "6,15", "--backend", "cpu"});
    EXPECT_THAT(files(out), ElementsAre("gray.factors.npz", "gray.k15.png", "gray.k6.png",
                                        "rgb.factors.npz", "rgb.k15.png", "rgb.k6.png"));
    fs::create_directory(at("npz-" + color));
    for (const char* name : {"gray", "rgb"})
      fs::copy(at(out + "/" + name + ".factors.npz"), at("npz-" + color + "/" + name + ".npz"));
    const ProcessResult result = run_ok(
        {"run", "npz-" + color, "-o", back, "-k", "6,full", "--backend", "cpu", "--report", "-"});
    const int rounding = color == "ycbcr" ? 1 : 0;  // of Y, Cb and Cr
    EXPECT_LE(max_error(back + "/rgb.k6.png", out + "/rgb.k6.png"), rounding) << color;
    EXPECT_LE(max_error(back + "/rgb.full.png", out + "/rgb.k15.png"), rounding) << color;
    EXPECT_LE(max_error(back + "/gray.full.png", out + "/gray.k15.png"), 1) << color;
    for (const Json& line : lines(result.out)) {
      EXPECT_TRUE(line.at("psnr_db").is_null());
      EXPECT_TRUE(line.at("ssim").is_null());
      EXPECT_TRUE(line.at("loss_estimate_db").is_null());
      EXPECT_EQ(line.at("solvers").at(0), "factors");
      EXPECT_GT(line.at("psnr_before_rounding_db").get<double>(), 10);
    }
  }
  EXPECT_EQ(factors("out-ycbcr/rgb.factors.npz").color, ColorMode::ycbcr);
  EXPECT_EQ(factors("out-joint/rgb.factors.npz").matrices.size(), 1U);
}

TEST_F(FactorsCliTest, writes_outputs_of_their_own) {
  write_image("in/a.png", 3);
  const std::vector<std::string> command{"run", "in", "-o", "out", "--backend", "cpu"};
  const auto run_with = [&](std::initializer_list<std::string> more) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), more);
    return run(arguments);
  };
  ASSERT_EQ(run_with({"-k", "5"}).code, 0);
  EXPECT_THAT(run_with({"-k", "5", "--factors", "--dry-run"}).out,
              AllOf(HasSubstr("out/a.png: same\n"), HasSubstr("out/a.npz: new\n")));
  const ProcessResult added = run_with({"-k", "5", "--factors", "--report", "-"});
  ASSERT_EQ(added.code, 0) << added.err;
  EXPECT_THAT(files("out"), ElementsAre("a.npz", "a.png"));
  const std::vector<Json> report = lines(added.out);
  ASSERT_EQ(report.size(), 2U);
  EXPECT_EQ(report[0].at("result"), "skipped");
  EXPECT_EQ(report[1].at("result"), "done");
  EXPECT_EQ(report[1].at("rank"), 5);
  EXPECT_EQ(report[1].at("written_bytes"), fs::file_size(at("out/a.npz")));
  EXPECT_THAT(run_with({"-k", "5", "--factors"}).err, HasSubstr("1 skipped"));
  const ProcessResult other = run_with({"-k", "5", "--factors=float16"});
  EXPECT_EQ(other.code, int(ExitCode::usage));
  EXPECT_THAT(other.err, HasSubstr("(factors float32 -> float16)"));

  run_ok({"run", "in", "-o", "only", "--format", "none", "--factors=float16", "-k", "3,full",
          "--backend", "cpu"});
  EXPECT_THAT(files("only"), ElementsAre("a.npz"));
  EXPECT_EQ(factors("only/a.npz").matrices.at(2).rank(), 40);
}

/// Damaged factors are as if there were none.
TEST_F(FactorsCliTest, adds_a_rank_without_a_decomposition) {
  write_image("in/damaged.png", 1, Depth::u16);
  write_image("in/rgb.png", 3);
  const auto run_with = [&](const std::string& out, const std::string& ranks,
                            std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"run", "in", "-o", out, "-k", ranks, "--color", "ycbcr", "--name",
                               "{stem}.{label}.{ext}", "--backend", "cpu", "--report", "-"});
    return lines(run_ok(more).out);
  };
  run_with("out", "12", {"--factors"});
  std::vector<std::byte> damaged = io::read_file(at("out/damaged.factors.npz"), 1);
  damaged[damaged.size() / 2] ^= std::byte(1);
  write("out/damaged.factors.npz", damaged);
  const std::vector<Json> full = run_with("full", "5,12"), added = run_with("out", "5,12");
  ASSERT_EQ(added.size(), 4U);
  for (std::size_t i = 0; i < added.size(); ++i) {
    const Json& line = added[i];
    const auto output = fs::path(line.at("output").get<std::string>()).filename();
    const bool is_new = line.at("rank_spec") == "5";
    EXPECT_EQ(line.at("result"), is_new ? "done" : "skipped");
    if (!is_new) continue;
    EXPECT_EQ(line.at("solvers").at(0) == "factors", output == "rgb.k5.png") << line;
    EXPECT_LE(max_error("out" / output, "full" / output), 1) << output;
    const auto same = std::ranges::find_if(full, [&](const Json& other) {
      return other.at("input") == line.at("input") && other.at("rank_spec") == "5";
    });
    EXPECT_NEAR(line.at("psnr_db").get<double>(), same->at("psnr_db").get<double>(), 0.001);
    EXPECT_LE(line.at("loss_estimate_db").get<double>(), 0.01);
  }
}

TEST_F(FactorsCliTest, names_the_reason_if_a_file_cannot_be_used) {
  write_image("in/a.png", 1);
  run_ok({"run", "in", "-o", "f", "--format", "none", "--factors", "-k", "4", "--backend", "cpu"});
  write("f/text.npz", "no archive");
  std::vector<std::byte> damaged = io::read_file(at("f/a.npz"), 1);
  damaged[damaged.size() / 2] ^= std::byte(1);
  write("f/damaged.npz", damaged);
  const ProcessResult result = run({"run", "f", "-o", "out", "-k", "4", "--backend", "cpu"});
  EXPECT_EQ(result.code, int(ExitCode::some_failed));
  EXPECT_THAT(files("out"), ElementsAre("a.png"));
  EXPECT_THAT(line_containing(result.err, "f/text.npz"), HasSubstr("unknown file format"));
  EXPECT_THAT(line_containing(result.err, "f/damaged.npz"), HasSubstr("checksum"));
  const auto error_with = [&](std::initializer_list<std::string> options) {
    std::vector<std::string> arguments{"run", "f/a.npz", "--backend", "cpu"};
    arguments.insert(arguments.end(), options);
    return line_containing(run(arguments).err, "f/a.npz");
  };
  EXPECT_THAT(error_with({"-o", "x", "-k", "2", "--size", "8x8"}), HasSubstr("input.size"));
}

TEST_F(FactorsCliTest, makes_the_ranks_that_a_file_suffices_for) {
  write_image("in/a.png", 3);
  run_ok({"run", "in", "-o", "f", "--format", "none", "--factors", "-k", "4", "--backend", "cpu"});
  const std::vector<std::string> command{"run",   "f",         "-o",  "out",      "-k",
                                         "2,5,4", "--backend", "cpu", "--report", "-"};
  const ProcessResult result = run(command);
  EXPECT_EQ(result.code, int(ExitCode::some_failed));
  EXPECT_THAT(files("out"), ElementsAre("a.k2.png", "a.k4.png"));
  const std::string reason = "rank 5 needs more singular values than the file has: 4 of 40";
  EXPECT_THAT(result.err, AllOf(HasSubstr("f/a.npz: " + reason), HasSubstr("0 done, 1 failed"),
                                HasSubstr("\noutputs     2; ")));
  std::map<std::string, int> kinds;
  for (const Json& line : lines(result.out)) {
    ++kinds[line.at("kind")];
    if (line.at("kind") == "failure") {
      EXPECT_EQ(line.at("detail"), reason);
    }
  }
  EXPECT_EQ(kinds, (std::map<std::string, int>{{"failure", 1}, {"output", 2}}));
  EXPECT_THAT(run({"status", "out"}).out, HasSubstr("out: 0 done, 1 failed"));
  const ProcessResult again = run(command);
  EXPECT_EQ(again.code, int(ExitCode::some_failed));
  EXPECT_EQ(line_containing(again.err, reason).substr(13),
            line_containing(result.err, reason).substr(13))
      << "but the time";
  EXPECT_EQ(count_occurrences(again.out, R"("result":"skipped")"), 2);
  EXPECT_THAT(run_ok({"run", "f", "-o", "out", "-k", "2,4", "--backend", "cpu"}).err,
              HasSubstr("1 skipped"));
}

}  // namespace
}  // namespace eckart::test
