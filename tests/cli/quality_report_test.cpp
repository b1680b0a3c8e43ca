// Tests what a report tells of the quality of outputs, and reports as CSV.
#include <sys/stat.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "analysis/comparison.hpp"
#include "analysis/residual.hpp"
#include "analysis/ssim.hpp"
#include "core/quality.hpp"
#include "preparation/gray.hpp"
#include "reports/csv.hpp"
#include "tests/cli/cli_fixture.hpp"

namespace eckart::test {
namespace {

using Json = nlohmann::json;
using Row = std::map<std::string, std::string>;  // by column

class QualityReportTest : public CliTest {
 protected:
  /// Writes a photo-like image as PNG. `shift`: left shift of its samples in 16 bits; -1: 8 bits.
  Image write_image(const fs::path& relative, int channels, int shift = -1) {
    const Image image = synth::synthesize(
        {.kind = synth::SynthKind::texture, .rows = 48, .cols = 64, .channels = channels});
    if (shift < 0) {
      write(relative, codec::codec_for(ImageFormat::png).encode(image, {}));
      return decode(relative);
    }
    ImageShape shape = image.shape();
    shape.depth = Depth::u16;
    Image deep(shape);
    for (std::size_t i = 0; i < shape.samples(); ++i)
      reinterpret_cast<std::uint16_t*>(deep.data())[i] =
          std::uint16_t(std::uint16_t(image.data()[i]) << shift);
    write(relative, codec::codec_for(ImageFormat::png).encode(deep, {}));
    return deep;
  }
  std::string text(const fs::path& file) {
    const auto bytes = io::read_file(at(file), 1);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  /// Returns the only line of a JSON lines report.
  Json line(const fs::path& file) { return Json::parse(text(file)); }
  /// Returns the rows of a CSV report by output, or by input if it failed.
  std::map<std::string, Row> rows(const fs::path& file) {
    std::map<std::string, Row> rows;
    std::vector<std::string> columns;
    std::istringstream stream(text(file));
    std::string row;
    for (std::string next; std::getline(stream, next);) {
      row += next;
      if (!reports::is_complete_csv_row(row)) {
        row += '\n';
        continue;
      }
      const std::vector<std::string> values = reports::csv_values(std::exchange(row, {}));
      if (columns.empty()) {
        columns = values;
        continue;
      }
      EXPECT_EQ(values.size(), columns.size());
      Row named;
      for (std::size_t i = 0; i < columns.size(); ++i) named[columns[i]] = values.at(i);
      const std::string key =
          named["output"].empty() ? named["input"] : below_folder(named["output"]);
      EXPECT_TRUE(rows.emplace(key, named).second) << key << " twice";
    }
    return rows;
  }
  static double squared_error(const Image& a, const Image& b) {
    return analysis::compare(a, b).squared_error;
  }
};

/// The same figures as those of a run that writes, and nothing is written but the report.
TEST_F(QualityReportTest, measures_outputs_that_are_not_written) {
  write_image("in/a.png", 3);
  const std::vector<std::string> ranks{"-k", "2,psnr:30", "--backend", "cpu"};
  const auto with_ranks = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), ranks.begin(), ranks.end());
    return run(arguments);
  };
  const ProcessResult written = with_ranks({"run", "in", "-o", "out", "--report", "-"});
  for (int i = 0; i < 2; ++i) {  // the second run computes again
    const ProcessResult measured = with_ranks({"run", "in", "--format", "none", "--report", "-"});
    EXPECT_EQ(measured.code, 0) << measured.err;
    EXPECT_THAT(measured.err, HasSubstr("1 done"));
    std::istringstream lines(measured.out), expected_lines(written.out);
    std::string text, expected_text;
    while (std::getline(expected_lines, expected_text)) {
      ASSERT_TRUE(std::getline(lines, text));
      const Json line = Json::parse(text), expected = Json::parse(expected_text);
      for (const char* key : {"rank_spec", "channel_ranks", "psnr_db", "ssim", "energy", "rmse",
                              "relative_error", "max_error", "factor_bytes"})
        EXPECT_EQ(line[key], expected[key]) << key;
      EXPECT_TRUE(line["output"].is_null());
      EXPECT_TRUE(line["file_psnr_db"].is_null());
      EXPECT_EQ(line["written_bytes"], 0);
    }
  }
  Names folders;
  for (const auto& entry : fs::directory_iterator(at("")))
    if (entry.is_directory()) folders.push_back(entry.path().filename());
  EXPECT_THAT(folders, ::testing::UnorderedElementsAre("in", "out"));
}

/// Residuals are added to what an earlier run wrote.
TEST_F(QualityReportTest, has_the_gain_of_residuals) {
  const std::map<std::string, Image> inputs = [&] {
    std::map<std::string, Image> images;
    images["a"] = write_image("in/a.png", 3);
    images["deep"] = write_image("in/deep.png", 1, 4);
    return images;
  }();
  const std::vector<std::string> command{"run", "in", "-o", "out", "-k", "3", "--backend", "cpu"};
  const auto run_with = [&](std::initializer_list<std::string> more) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), more);
    return run(arguments);
  };
  ASSERT_EQ(run_with({}).code, 0);
  ASSERT_EQ(run_with({"--residual", "--report", "r.csv"}).code, 0);
  EXPECT_THAT(files("out"),
              ElementsAre("a.png", "a.residual.png", "deep.png", "deep.residual.png"));
  std::map<std::string, Row> rows = this->rows("r.csv");
  for (const auto& [name, input] : inputs) {
    const Row &output = rows["out/" + name + ".png"],
              &residual = rows["out/" + name + ".residual.png"];
    EXPECT_EQ(output.at("result"), "skipped");
    EXPECT_EQ(output.at("residual_gain"), "");
    EXPECT_EQ(residual.at("result"), "done");
    EXPECT_EQ(residual.at("psnr_db"), output.at("psnr_db"));
    const Image reconstruction = decode("out/" + name + ".png");
    const double gain = analysis::largest_residual_gain(input, reconstruction);
    EXPECT_EQ(std::stod(residual.at("residual_gain")), gain);
    EXPECT_EQ(squared_error(decode("out/" + name + ".residual.png"),
                            analysis::residual_image(input, reconstruction, gain)),
              0);
  }
  EXPECT_THAT(text("out/a.residual.png"), HasSubstr("eckart:residual_gain"));
  EXPECT_THAT(run_with({"--residual"}).err, HasSubstr("2 skipped"));
  const ProcessResult changed = run_with({"--residual=0.5"});
  EXPECT_EQ(changed.code, int(ExitCode::usage));
  EXPECT_THAT(changed.err, HasSubstr("2 outputs made with other settings (residual auto -> 0.5)"));
}

TEST_F(QualityReportTest, measures_the_pixels_of_an_output) {
  const Image in = write_image("in/a.png", 3);
  ASSERT_EQ(run({"run", "in", "-o", "out", "-k", "5", "--report", "r.jsonl"}).code, 0);
  const Image out = decode("out/a.png");
  const Json line = this->line("r.jsonl");
  const analysis::Comparison difference = analysis::compare(in, out);
  const double samples = double(in.shape().samples());
  EXPECT_EQ(line.at("schema"), "eckart.report/1");
  EXPECT_EQ(line.at("rank_spec"), "5");
  EXPECT_EQ(line.at("channel_ranks"), Json({5, 5, 5}));
  ASSERT_EQ(line.at("solvers").size(), 3);
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_TRUE(line.at("solvers").at(c) == "gram" || line.at("solvers").at(c) == "subspace");
    EXPECT_GT(line.at("sigma1").at(c), line.at("sigma_threshold").at(c));
    EXPECT_GT(line.at("sigma_threshold").at(c), 0);
  }
  EXPECT_NEAR(line.at("ssim").get<double>(), analysis::ssim(in, out, 255), 1e-9);
  EXPECT_NEAR(line.at("rmse").get<double>(), std::sqrt(difference.squared_error / samples), 1e-9);
  EXPECT_NEAR(line.at("relative_error").get<double>(),
              std::sqrt(difference.squared_error / difference.squared_norm), 1e-9);
  EXPECT_EQ(line.at("max_error"), difference.max_error);
  EXPECT_EQ(line.at("file_psnr_db"), line.at("psnr_db")) << "of a lossless file";
  EXPECT_NEAR(line.at("psnr_before_rounding_db").get<double>(), line.at("psnr_db").get<double>(),
              1);
  EXPECT_EQ(line.at("peak"), 255);
  EXPECT_EQ(line.at("peak_source"), "dtype");
  EXPECT_EQ(line.at("raw_bytes"), 48 * 64 * 3);
  EXPECT_EQ(line.at("source_bytes"), fs::file_size(at("in/a.png")));
  EXPECT_EQ(line.at("written_bytes"), fs::file_size(at("out/a.png")));
  EXPECT_EQ(line.at("factor_bytes"), 3 * 5 * (48 + 64 + 1) * 4);
  for (const char* key : {"load_ms", "compute_ms", "write_ms"})
    EXPECT_GT(line.at(key).get<double>(), 0) << key;
  EXPECT_GE(line.at("wait_ms").get<double>(), 0);
}

/// The pixels before JPEG coding are much better than those in the file.
TEST_F(QualityReportTest, measures_the_file_of_a_lossy_format) {
  const Image in = write_image("in/a.png", 3);
  const std::vector<std::string> command{"run",      "in",   "--rank", "40",
                                         "--format", "jpeg", "--set",  "output.jpeg_quality=30",
                                         "--json",   "-o"};
  const auto run_into = [&](const std::string& folder, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = command;
    arguments.push_back(folder);
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  };
  const ProcessResult result = run_into("out", {"--report", "r.jsonl"});
  ASSERT_EQ(result.code, 0) << result.err;
  const Image file = decode("out/a.jpg");
  const double file_psnr = psnr_db(squared_error(in, file), in.shape().samples(), 255);
  const Json line = this->line("r.jsonl");
  EXPECT_NEAR(line.at("file_psnr_db").get<double>(), file_psnr, 1e-9);
  EXPECT_GT(line.at("psnr_db").get<double>(), file_psnr + 3);
  EXPECT_NEAR(line.at("ssim").get<double>(), analysis::ssim(in, file, 255), 1e-9);
  EXPECT_NEAR(Json::parse(result.out).at("ranks").at(0).at("file_psnr_db_mean").get<double>(),
              file_psnr, 1e-9);

  const ProcessResult plain = run_into("plain");
  const Json rank = Json::parse(plain.out).at("ranks").at(0);
  EXPECT_NEAR(rank.at("file_psnr_db_min").get<double>(), file_psnr, 1e-9);
  EXPECT_TRUE(rank.at("ssim_mean").is_null()) << "it takes time, and no report asks for it";
  EXPECT_THAT(plain.err, Not(HasSubstr("SSIM")));

  const ProcessResult fast = run_into("fast", {"--set", "quality.measure=fast"});
  EXPECT_TRUE(Json::parse(fast.out).at("ranks").at(0).at("file_psnr_db_mean").is_null());
  EXPECT_THAT(fast.err, HasSubstr("PSNR is that of the reconstructions; jpeg compression adds"));
  const ProcessResult full = run_into("full", {"--set", "quality.measure=full"});
  EXPECT_NEAR(Json::parse(full.out).at("ranks").at(0).at("ssim_mean").get<double>(),
              line.at("ssim").get<double>(), 1e-9);
}

/// WebP holds gray as RGB.
TEST_F(QualityReportTest, measures_the_file_of_a_gray_webp) {
  const Image in = write_image("in/a.png", 1);
  const ProcessResult result =
      run({"run", "in", "-o", "out", "-k", "40", "--format", "webp", "--set",
           "output.webp_quality=30", "--report", "r.jsonl", "--backend", "cpu"});
  ASSERT_EQ(result.code, 0) << result.err;
  const Image file = preparation::to_gray(decode("out/a.webp"));
  const Json line = this->line("r.jsonl");
  EXPECT_NEAR(line.at("file_psnr_db").get<double>(),
              psnr_db(squared_error(in, file), in.shape().samples(), 255), 1e-9);
  EXPECT_GT(line.at("psnr_db").get<double>(), line.at("file_psnr_db").get<double>() + 3);
  EXPECT_NEAR(line.at("ssim").get<double>(), analysis::ssim(in, file, 255), 1e-9);
}

/// 12-bit data in 16 bits.
TEST_F(QualityReportTest, uses_the_given_peak) {
  const Image in = write_image("in/a.png", 1, 4);
  const std::string warning = "in/a.png: all samples are below 4096, but PSNR and SSIM have";
  const auto line_with = [&](const std::string& name, const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"run", "in",     "-o",       name,           "-k",
                                       "5",   "--json", "--report", name + ".jsonl"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProcessResult result = run(arguments);
    EXPECT_EQ(result.code, 0) << result.err;
    const Json line = this->line(name + ".jsonl");
    EXPECT_EQ(Json::parse(result.out).at("psnr_db_mean"), line.at("psnr_db"));
    EXPECT_EQ(count_occurrences(result.err, warning), more.empty() ? 1 : 0);
    return line;
  };
  const Json dtype = line_with("dtype", {});
  const Json number = line_with("number", {"--peak", "4095"});
  const Json range = line_with("range", {"--set", "quality.peak=range"});
  EXPECT_EQ(dtype.at("peak"), 65535);
  EXPECT_EQ(number.at("peak"), 4095);
  EXPECT_EQ(number.at("peak_source"), "number");
  EXPECT_EQ(range.at("peak"), analysis::sample_range(in));
  EXPECT_EQ(range.at("peak_source"), "range");
  EXPECT_NEAR(dtype.at("psnr_db").get<double>() - number.at("psnr_db").get<double>(),
              20 * std::log10(65535.0 / 4095), 1e-9);
  const Image out = decode("number/a.png");
  EXPECT_NEAR(number.at("ssim").get<double>(), analysis::ssim(in, out, 4095), 1e-9);
  EXPECT_NEAR(range.at("psnr_db").get<double>(),
              psnr_db(squared_error(in, out), in.shape().samples(), analysis::sample_range(in)),
              1e-9);
  EXPECT_EQ(number.at("loss_estimate_db"), dtype.at("loss_estimate_db"));
  EXPECT_EQ(text("number/a.png"), text("dtype/a.png"));
}

TEST_F(QualityReportTest, has_the_psnr_that_the_rank_asks_for_at_the_peak) {
  write_image("in/a.png", 3, 4);
  ASSERT_EQ(
      run({"run", "in", "-o", "out", "--rank", "psnr:30", "--peak", "4095", "--report", "r.jsonl"})
          .code,
      0);
  const Json line = this->line("r.jsonl");
  EXPECT_EQ(line.at("rank_spec"), "psnr:30");
  EXPECT_GE(line.at("psnr_before_rounding_db").get<double>(), 29.99);
  EXPECT_LT(line.at("psnr_before_rounding_db").get<double>(), 33)
      << "with 65535, it has 24 dB more";
  std::int64_t factor_bytes = 0;
  for (const Json& rank : line.at("channel_ranks"))
    factor_bytes += rank.get<std::int64_t>() * (48 + 64 + 1) * 4;
  EXPECT_EQ(line.at("factor_bytes"), factor_bytes);
}

TEST_F(QualityReportTest, names_a_wrong_peak) {
  const ProcessResult result = run({"run", "in", "-o", "out", "--peak", "12bit"});
  EXPECT_EQ(result.code, int(ExitCode::usage));
  EXPECT_THAT(result.err,
              HasSubstr("--peak 12bit: quality.peak: '12bit' is not auto, dtype, range or a "
                        "positive number"));
}

TEST_F(QualityReportTest, has_no_ssim_of_tiny_images) {
  write("in/a.png", encoded("png", 6, 40));
  ASSERT_EQ(run({"run", "in", "-o", "out", "-k", "2", "--report", "r.jsonl"}).code, 0);
  EXPECT_TRUE(line("r.jsonl").at("ssim").is_null());
  ASSERT_EQ(run({"run", "in", "-o", "out", "-k", "2", "--report", "r.csv"}).code, 0);
  EXPECT_EQ(rows("r.csv").at("out/a.png").at("ssim"), "");
}

/// A later run completes the table, and keeps the rows of other inputs.
TEST_F(QualityReportTest, completes_a_csv_table) {
  const std::string odd = "a, \"b\"\nc";
  write_image("in/" + odd + ".png", 3);
  write_image("in/plain.png", 1);
  write("in/bad.png", "no image");
  const auto report = [&] {
    return run({"run", "in", "-o", "out", "-k", "5", "--report", "r.csv"}).code;
  };
  ASSERT_EQ(report(), 3);
  const auto first = rows("r.csv");
  ASSERT_EQ(first.size(), 3u);
  const Row& row = first.at("out/" + odd + ".png");
  EXPECT_EQ(row.at("input"), at("in/" + odd + ".png"));
  EXPECT_EQ(row.at("channel_ranks"), "5;5;5");
  EXPECT_EQ(count_occurrences(row.at("energy"), ";"), 2);
  EXPECT_EQ(row.at("reason"), "");
  EXPECT_EQ(first.at(at("in/bad.png")).at("reason"), "not an image");
  EXPECT_EQ(first.at(at("in/bad.png")).at("rank"), "");

  write_image("in/bad.png", 1);
  fs::remove(at("in/plain.png"));
  ASSERT_EQ(report(), 0);
  const auto second = rows("r.csv");
  ASSERT_EQ(second.size(), 3u);
  EXPECT_EQ(second.at("out/bad.png").at("result"), "done") << "in place of the failure";
  EXPECT_EQ(second.at("out/plain.png"), first.at("out/plain.png")) << "not of this run";
  for (auto [column, value] : row)
    EXPECT_EQ(second.at("out/" + odd + ".png").at(column), column == "result" ? "skipped" : value);
  EXPECT_EQ(count_occurrences(text("r.csv"), "kind,schema,"), 1);
}

TEST_F(QualityReportTest, refuses_a_csv_file_that_is_not_a_report) {
  write_png("in/a.png");
  write("r.csv", "name,age\nx,1\n");
  const ProcessResult result = run({"run", "in", "-o", "out", "-k", "2", "--report", "r.csv"});
  EXPECT_EQ(result.code, int(ExitCode::usage));
  EXPECT_THAT(result.err, HasSubstr("r.csv: the file exists and is not a CSV report"));
  EXPECT_EQ(text("r.csv"), "name,age\nx,1\n");
}

TEST_F(QualityReportTest, is_written_from_the_ledger_by_status) {
  write_image("in/a.png", 3);
  write("in/bad.png", "no image");
  ASSERT_EQ(run({"run", "in", "-o", "out", "-k", "5,10", "--report", "run.csv"}).code, 3);
  const ProcessResult status = run({"status", "out", "--report", "status.csv"});
  EXPECT_EQ(status.code, 0) << status.err;
  EXPECT_THAT(status.out, HasSubstr("out: 1 done, 1 failed"));
  const auto of_run = rows("run.csv"), of_status = rows("status.csv");
  ASSERT_EQ(of_status.size(), 3u);
  for (const char* output : {"out/a.k5.png", "out/a.k10.png"}) {
    EXPECT_EQ(of_status.at(output), of_run.at(output));
    EXPECT_EQ(of_status.at(output).at("input"), fs::canonical(at("in/a.png")));
  }
  const Row& failed = of_status.at(fs::canonical(at("in/bad.png")));
  EXPECT_EQ(failed.at("result"), "failed");
  EXPECT_EQ(failed.at("reason"), "not an image");

  const ProcessResult lines = run({"status", "out", "--json", "--report", "-"});
  EXPECT_EQ(count_occurrences(lines.out, "{\"kind\":\"output\""), 2);
  EXPECT_EQ(count_occurrences(lines.out, "{\"kind\":\"status\""), 1);
  const ProcessResult records = run({"status", "out", "--report", "-"});
  EXPECT_EQ(count_occurrences(records.out, "\n"), 3) << "nothing but records: " << records.out;
  EXPECT_EQ(count_occurrences(records.out, "{\"kind\":"), 3);
  EXPECT_THAT(records.err, HasSubstr("out: 1 done, 1 failed"));
  EXPECT_EQ(run({"status", "nowhere", "--report", "none.csv"}).code, int(ExitCode::no_input));
  EXPECT_FALSE(fs::exists(at("none.csv.part")));
}

}  // namespace
}  // namespace eckart::test
