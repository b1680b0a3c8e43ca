#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "codec/codec.hpp"
#include "core/rank_policy.hpp"

namespace eckart::io {

/// What is written besides the images of ranks.
struct ExtraOutputs {
  bool residuals = false;  ///< one for each rank, with .residual before the extension
  bool factors = false;    ///< one .npz file for all ranks
};

/// Names the outputs. The tree of the inputs is mirrored below a root. Thread-safe.
class OutputTree {
 public:
  /// `name` is a pattern as files/output_name defines it. Throws std::invalid_argument if it is
  /// invalid, if there are several ranks and it has neither {rank} nor {label}, or if it ends with
  /// neither .{ext} nor an extension of the format. `codec` is that of images; null if only factors
  /// are written.
  OutputTree(std::filesystem::path root, std::string name, const codec::Codec* codec,
             const std::vector<RankPolicy>& ranks, ExtraOutputs extra = {});

  /// Returns {stem}.{ext}, or {stem}.{label}.{ext} for several ranks.
  static std::string default_name(std::size_t ranks);
  /// Returns whether outputs of different ranks have different names.
  static bool names_rank(const std::string& name);

  /// Two inputs, a.jpg and a.png, may have the same usual output name, a.png. The full name
  /// contains the whole name of the input, a.png.png, and is the same in every run.
  enum class Naming { usual, full };

  /// Reserves the output paths of the input at `relative`: one per rank, then those of the
  /// residuals per rank, then that of the factors, whose {rank} and {label} are "factors". Uses the
  /// usual names, or the full names if another input has reserved a usual name. With Naming::full
  /// only the full names are tried. Throws ItemError(output_collision) if another input has the
  /// names, or if they are inside .eckart. Memory: about 50 bytes per name, because only hashes are
  /// stored.
  std::vector<std::filesystem::path> reserve(const std::filesystem::path& relative,
                                             Naming naming = Naming::usual);

  /// Releases the output paths of an input.
  void release(const std::filesystem::path& relative);
  /// Returns the paths that reserve() would try with this naming. Reserves nothing.
  std::vector<std::filesystem::path> outputs_of(const std::filesystem::path& relative,
                                                Naming naming = Naming::usual) const;

  /// Whether the outputs have the names that outputs_of() returns for Naming::usual.
  bool have_usual_names(const std::vector<std::filesystem::path>& outputs,
                        const std::filesystem::path& relative) const;

  /// Returns the paths at which runs with this name, or with a default name, write the factors of
  /// the input.
  std::vector<std::filesystem::path> possible_factors_of(
      const std::filesystem::path& relative) const;

  /// Set if names that differ only in the case of ASCII letters are one file. Must not change after
  /// the first reserve().
  void set_case_insensitive(bool is_case_insensitive) {
    is_case_insensitive_ = is_case_insensitive;
  }

  bool is_case_insensitive() const { return is_case_insensitive_; }

  const codec::Codec* codec() const { return codec_; }
  bool has_factors() const { return extra_.factors; }

 private:
  /// What takes the place of {rank} and {label} in a name.
  struct RankNames {
    std::string rank, label;
  };
  /// An output that is reserved already.
  struct TakenOutput {
    std::size_t index;    ///< among the outputs
    std::uint64_t input;  ///< hash of the input that has it
  };

  const std::string& pattern_of(Naming naming) const {
    return naming == Naming::full ? full_name_ : name_;
  }
  std::string path_of(const std::string& pattern, const std::filesystem::path& relative,
                      const RankNames& names, std::string_view extension) const;
  std::string factors_path_of(const std::string& pattern,
                              const std::filesystem::path& relative) const;
  std::string_view below_root(const std::filesystem::path& output) const;
  std::vector<std::uint64_t> hashes_of(const std::vector<std::filesystem::path>& outputs) const;
  std::optional<TakenOutput> reserve(const std::vector<std::uint64_t>& outputs,
                                     std::uint64_t input);

  const std::string root_;  // the path of the root, with a slash at its end
  const std::string name_, full_name_;
  const codec::Codec* const codec_;
  std::vector<RankNames> rank_names_;
  const ExtraOutputs extra_;
  bool is_case_insensitive_ = false;
  std::mutex mutex_;
  // Hash of an output path -> hash of its input.
  std::unordered_map<std::uint64_t, std::uint64_t> reserved_;
};

/// Creates the output folder if missing, and verifies that files can be created in it. Returns
/// whether the file system is case-insensitive, like vfat. Throws FatalError (cannot_create or
/// no_permission), or EnvironmentError if the disk is full or broken.
bool prepare_output_root(const std::filesystem::path& root);

}  // namespace eckart::io
