#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <vector>

#include "core/rank_policy.hpp"
#include "io/codec.hpp"
#include "io/input_file.hpp"
#include "io/source.hpp"
#include "pipeline/full_rank_filter.hpp"
#include "pipeline/work_item.hpp"

namespace eckart::pipeline {

/// Makes an item from a source item. The item is failed if the source could not access the file.
ItemPtr make_work_item(io::SourceItem arrival);

/// The memory budget for an item that is being loaded.
class ItemMemory {
 public:
  virtual ~ItemMemory() = default;
  /// Waits until the bytes are free. Returns an empty reservation if the run is aborted.
  virtual flow::Budget::Reservation reserve(std::size_t bytes) = 0;
};

/// Opens the file of a watch and records its identity in the item; returns nullopt for other items.
/// Throws ItemError.
std::optional<io::InputFile> open_watched_file(WorkItem& item);

/// Decodes files into tasks. Thread-safe. Must outlive the items, which refer to its ranks.
class Loader {
 public:
  /// `outputs` is the codec of the outputs, `decoder` the decoder of the inputs. `copies` is how
  /// many copies of the pixels the backend holds, including the task's own.
  Loader(const ImageLimits& limits, std::vector<RankPolicy> ranks, const io::Codec& outputs,
         int copies = 1, Decoder decoder = Decoder::strict);

  /// Decodes `open`, or the item's file if `open` is empty, into the item's task. Checks the header
  /// against the limits and the output format. Makes one reservation: the maximum of (file +
  /// decoder) and (input pixels + output pixels). After decoding, it is reduced to the pixels. If
  /// the reservation is empty, returns without decoding. Throws ItemError.
  void load(WorkItem& item, std::optional<io::InputFile> open, ItemMemory& memory);

 private:
  Picture decode(WorkItem& item, const io::InputFile& file, const io::Codec& codec,
                 const io::Header& header) const;
  void log_full_rank(const WorkItem& item, const ImageShape& shape);

  const ImageLimits limits_;
  const std::vector<RankPolicy> ranks_;
  const io::Codec& outputs_;
  const std::size_t copies_;
  const Decoder decoder_;
  std::atomic<bool> logged_{false};
};

}  // namespace eckart::pipeline
