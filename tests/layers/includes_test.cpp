// Reads every #include of src/ and holds it against the tables below. They are the plan of the
// layers: whoever changes who may know whom changes them, and nothing else.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace eckart {
namespace {

namespace fs = std::filesystem;
using ComponentNames = std::vector<std::string_view>;

struct Component {
  std::string_view folder;     ///< the deepest one that holds a file is its room
  ComponentNames may_include;  ///< besides itself
};
const std::vector<Component> kComponents = {
    {"main.cpp", {"cli"}},
    {"cli",
     {"app", "settings", "pipeline", "flow", "io", "compute", "telemetry", "capacity", "bench",
      "build_id", "core"}},
    {"app",
     {"build_id", "settings", "pipeline", "flow", "io", "io/watch", "compute", "compute/cpu",
      "compute/cuda", "compute/checked", "compute/fallback", "telemetry", "ledger", "core"}},
    {"pipeline", {"flow", "io", "io/watch", "compute", "ledger", "telemetry", "core"}},
    {"bench", {"compute", "io", "core", "telemetry", "flow"}},
    {"flow", {}},
    {"io", {"core"}},
    {"io/watch", {"io", "flow", "core"}},
    {"ledger", {"core"}},
    {"telemetry", {"core"}},
    {"settings", {"core"}},
    {"capacity", {"core"}},
    {"compute", {"core"}},
    {"compute/cpu", {"compute", "core"}},
    {"compute/cuda", {"build_id", "compute", "core"}},
    {"compute/checked", {"compute", "core"}},
    {"compute/fallback", {"compute", "core"}},
    {"core", {}},
    {"build_id", {}},
};

struct Library {
  std::string_view name;
  std::string_view headers;   ///< a regular expression for the whole of what is included
  ComponentNames allowed_in;  ///< folders or files of src
};
const std::vector<Library> kLibraries = {
    {"CUDA",
     R"((cuda|cublas|cusolver|cusparse|curand|cuComplex|)"
     R"(nvtx|nvToolsExt|nvml|cub/|thrust/|cooperative_groups).*|.*\.cuh)",
     {"compute/cuda"}},
    {"OpenCV", "opencv2/.*", {"io"}},
    {"image codecs", "(turbojpeg|jpeglib|jerror|png|spng|zlib|libdeflate|tiffio).*", {"io"}},
    {"BLAS and LAPACK", "(.*/)?(lapack|lapacke|cblas|openblas_config).*", {"compute/cpu"}},
    {"moodycamel", "concurrentqueue/.*", {"flow/channel.hpp"}},
    {"yaml-cpp", "yaml-cpp/.*", {"settings"}},
    {"cpp-httplib", "httplib.*", {"telemetry"}},
    {"prometheus-cpp", "prometheus/.*", {"telemetry"}},
    {"libsystemd", "systemd/.*", {"telemetry"}},
    {"SQLite", "sqlite3.*", {"ledger"}},
    {"CLI11", "CLI/.*", {"cli"}},
    {"nlohmann-json", "nlohmann/.*", {"telemetry", "cli", "bench", "capacity"}},
    {"spdlog",
     "(spdlog|fmt)/.*",
     {"main.cpp", "cli", "app", "settings", "pipeline", "bench", "ledger", "telemetry",
      "capacity"}},
    {"GoogleTest", "(gtest|gmock)/.*", {}},
};

/// Whether `path` is `folder` or lies in it.
bool is_within(std::string_view path, std::string_view folder) {
  return path.substr(0, folder.size()) == folder &&
         (path.size() == folder.size() || path[folder.size()] == '/');
}

const Component* component_of(std::string_view path) {
  const Component* component = nullptr;
  for (const Component& candidate : kComponents) {
    const bool deeper = component == nullptr || candidate.folder.size() > component->folder.size();
    if (is_within(path, candidate.folder) && deeper) component = &candidate;
  }
  return component;
}

bool contains(const ComponentNames& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// What is wrong with `file` (relative to src) including `header`; nothing when it may.
/// `quoted`: "header", which the layers keeps for its own, written from src on.
std::optional<std::string> violation(std::string_view file, const std::string& header,
                                     bool is_quoted) {
  const Component* from = component_of(file);
  if (from == nullptr) return "this folder is not in the table of components";
  for (const Library& library : kLibraries) {
    if (!std::regex_match(header, std::regex(std::string(library.headers)))) continue;
    const bool is_own_cuda_header = header.ends_with(".cuh") && component_of(header) == from;
    const auto allowed = [&](std::string_view place) { return is_within(file, place); };
    if (is_own_cuda_header ||
        std::any_of(library.allowed_in.begin(), library.allowed_in.end(), allowed)) {
      if (!is_quoted) return std::nullopt;
      break;
    }
    return std::string(library.name) + " may not be included by " + std::string(from->folder);
  }
  const Component* to = component_of(header);
  if (to == nullptr && is_quoted)
    return "use a path relative to src, or <> for a third-party header";
  if (to == nullptr || to == from || contains(from->may_include, to->folder)) return std::nullopt;
  return std::string(from->folder) + " may not include " + std::string(to->folder);
}

bool is_source(const fs::path& path) {
  return contains({".cpp", ".hpp", ".cu", ".cuh", ".h", ".inc"}, path.extension().string());
}

struct Include {
  int line;
  std::string header;
  bool is_quoted;
};
std::vector<Include> includes_of(std::istream& source) {
  static const std::regex directive(R"(\s*#\s*include\s*([<"])([^>"]+)[>"].*)");
  std::vector<Include> includes;
  std::string text;
  for (int line = 1; std::getline(source, text); ++line) {
    std::smatch match;
    if (std::regex_match(text, match, directive))
      includes.push_back({line, match[2], match[1] == "\""});
  }
  return includes;
}

TEST(IncludeRules, allow_every_include_of_src) {
  const fs::path src = ECKART_SOURCE_DIR;
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(src)) {
    if (!entry.is_regular_file() || !is_source(entry.path())) continue;
    ++files;
    const std::string file = fs::relative(entry.path(), src).generic_string();
    std::ifstream source(entry.path());
    for (const Include& include : includes_of(source)) {
      const auto wrong = violation(file, include.header, include.is_quoted);
      EXPECT_FALSE(wrong) << "src/" << file << ":" << include.line << ": includes "
                          << include.header << ": " << wrong.value_or("");
    }
  }
  EXPECT_GT(files, 20) << "is " << src << " the source of eckart?";
}

TEST(IncludeRules, name_existing_components_only) {
  for (const Component& component : kComponents) {
    for (const std::string_view name : component.may_include) {
      EXPECT_TRUE(component_of(name) && component_of(name)->folder == name)
          << component.folder << ": " << name;
    }
  }
  for (const Library& library : kLibraries) {
    for (const std::string_view place : library.allowed_in)
      EXPECT_TRUE(component_of(place)) << place;
  }
}

TEST(IncludeChecker, accepts_allowed_includes) {
  EXPECT_FALSE(violation("core/image.hpp", "core/matrix_view.hpp", true));
  EXPECT_FALSE(violation("core/image.hpp", "vector", false));
  EXPECT_FALSE(violation("main.cpp", "cli/cli.hpp", true));
  EXPECT_FALSE(violation("app/app.cpp", "compute/cpu/cpu_backend.hpp", true));
  EXPECT_FALSE(violation("pipeline/pipeline.cpp", "compute/backend.hpp", true));
  EXPECT_FALSE(violation("compute/cuda/kernels/unpack.cu", "compute/cuda/raii.hpp", true));
  EXPECT_FALSE(violation("compute/cuda/kernels/unpack.cu", "compute/cuda/reduce.cuh", true));
  EXPECT_FALSE(violation("compute/cuda/lane.cpp", "cuda_runtime.h", false));
  EXPECT_FALSE(violation("compute/cpu/svd.cpp", "lapacke.h", false));
  EXPECT_FALSE(violation("flow/channel.hpp", "concurrentqueue/concurrentqueue.h", false));
  EXPECT_FALSE(violation("io/jpeg_codec.cpp", "opencv2/imgcodecs.hpp", false));
}

TEST(IncludeChecker, rejects_includes_of_other_layers) {
  EXPECT_EQ(violation("core/image.hpp", "flow/budget.hpp", true), "core may not include flow");
  EXPECT_EQ(violation("flow/budget.hpp", "core/image.hpp", true), "flow may not include core");
  EXPECT_TRUE(violation("io/png_codec.cpp", "telemetry/log.hpp", true));
  EXPECT_TRUE(violation("telemetry/log.cpp", "io/read_file.hpp", true));
  EXPECT_TRUE(violation("pipeline/load.cpp", "settings/settings.hpp", true));
  EXPECT_TRUE(violation("pipeline/load.cpp", "compute/cpu/cpu_backend.hpp", true));
  EXPECT_TRUE(violation("cli/run.cpp", "ledger/ledger.hpp", true));
  EXPECT_TRUE(violation("main.cpp", "app/app.hpp", true));
  EXPECT_TRUE(violation("compute/cpu/svd.cpp", "compute/cuda/lane.hpp", true));
  EXPECT_TRUE(violation("compute/checked/checked.cpp", "compute/cpu/svd.hpp", true));
  EXPECT_TRUE(violation("compute/backend.cpp", "compute/cpu/svd.hpp", true));
  EXPECT_TRUE(violation("core/image.hpp", "flow/budget.hpp", false)) << "nor in angle brackets";
}

TEST(IncludeChecker, rejects_libraries_outside_their_component) {
  EXPECT_EQ(violation("pipeline/load.cpp", "opencv2/core.hpp", false),
            "OpenCV may not be included by pipeline");
  EXPECT_TRUE(violation("compute/backend.hpp", "cuda_runtime.h", false));
  EXPECT_TRUE(violation("compute/cpu/svd.cpp", "cublas_v2.h", false));
  EXPECT_TRUE(violation("bench/bench.cpp", "nvtx3/nvToolsExt.h", false));
  EXPECT_TRUE(violation("bench/bench.cpp", "compute/cuda/reduce.cuh", true));
  EXPECT_TRUE(violation("flow/budget.hpp", "concurrentqueue/concurrentqueue.h", false));
  EXPECT_TRUE(violation("cli/run.cpp", "yaml-cpp/yaml.h", false));
  EXPECT_TRUE(violation("app/app.cpp", "sqlite3.h", false));
  EXPECT_TRUE(violation("bench/bench.cpp", "cblas.h", false));
  EXPECT_TRUE(violation("settings/settings.cpp", "CLI/CLI.hpp", false));
  EXPECT_TRUE(violation("pipeline/write.cpp", "nlohmann/json.hpp", false));
  EXPECT_TRUE(violation("compute/cuda/lane.cpp", "spdlog/spdlog.h", false));
  EXPECT_TRUE(violation("core/image.hpp", "gtest/gtest.h", false));
}

TEST(IncludeChecker, rejects_unknown_folders_and_relative_paths) {
  EXPECT_TRUE(violation("attic/old.cpp", "vector", false));
  EXPECT_TRUE(violation("core/image.hpp", "matrix_view.hpp", true));
  EXPECT_TRUE(violation("core/image.hpp", "../flow/budget.hpp", true));
  EXPECT_FALSE(violation("core/cored.hpp", "corelib.h", false)) << "a name that begins like a room";
}

TEST(IncludeChecker, finds_includes_with_any_spacing) {
  std::istringstream source(
      "#pragma once\n  #  include <vector>\n// #include <map>\n#include\"core/a.hpp\"\n");
  const auto includes = includes_of(source);
  ASSERT_EQ(includes.size(), 2u);
  EXPECT_EQ(includes[0].header, "vector");
  EXPECT_EQ(includes[0].line, 2);
  EXPECT_FALSE(includes[0].is_quoted);
  EXPECT_EQ(includes[1].header, "core/a.hpp");
  EXPECT_EQ(includes[1].line, 4);
  EXPECT_TRUE(includes[1].is_quoted);
}

}  // namespace
}  // namespace eckart
