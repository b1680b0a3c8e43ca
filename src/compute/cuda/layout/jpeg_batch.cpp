#include "compute/cuda/layout/jpeg_batch.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "codec/jpeg/unstuff.hpp"
#include "compute/cuda/layout/batch_bounds.hpp"

namespace eckart::compute::cuda {
namespace {

using codec::jpeg::JpegHeader;
using codec::jpeg::Layout;
using codec::jpeg::TableSpecs;

/// What parse_header() ensures.
bool is_supported(const Layout& layout) {
  const auto is_one_or_two = [](int factor) { return factor == 1 || factor == 2; };
  return layout.rows > 0 && layout.cols > 0 && (layout.channels == 1 || layout.channels == 3) &&
         is_one_or_two(layout.across) && is_one_or_two(layout.down) &&
         layout.blocks() <= codec::jpeg::kMaxBlocks;
}

/// Assigns an index to each set of tables. Neighbors mostly have the same.
class TableIndex {
 public:
  /// Returns the index, and builds the tables if they are new.
  std::int32_t find(const TableSpecs& specs, std::vector<codec::jpeg::Tables>& tables) {
    if (last_ != nullptr && *last_ == specs) return last_index_;
    const auto [found, is_new] = indices_.try_emplace(specs, std::int32_t(tables.size()));
    if (is_new) tables.push_back(build_tables(specs));
    last_ = &found->first;
    return last_index_ = found->second;
  }

 private:
  std::unordered_map<TableSpecs, std::int32_t, codec::jpeg::TableSpecsHash> indices_;
  const TableSpecs* last_ = nullptr;
  std::int32_t last_index_ = 0;
};

}  // namespace

JpegBatch plan_jpeg_batch(std::span<const JpegInput> inputs, std::size_t data_bytes,
                          std::size_t pixels_bytes) {
  JpegBatch batch;
  TableIndex tables;
  require_fits(inputs.size() <= kMaxJpegImages);
  batch.images.reserve(inputs.size());
  for (const JpegInput& input : inputs) {
    const JpegHeader& header = *input.header;
    require_fits(is_supported(header.layout));
    const std::size_t whole_words = codec::jpeg::max_unstuffed_bytes(input.data_bytes);
    require_fits(input.data_bytes <= std::numeric_limits<std::int32_t>::max());
    require_fits(input.data_offset % 4 == 0 &&
                 is_within(input.data_offset, whole_words, data_bytes));
    require_fits(is_within(input.pixels_offset, header.shape().bytes(), pixels_bytes));
    const auto blocks = int(header.layout.blocks());
    batch.images.push_back({header.layout, tables.find(header.tables, batch.tables),
                            std::int64_t(input.data_offset / 4), std::int32_t(input.data_bytes),
                            batch.blocks, std::int64_t(input.pixels_offset)});
    batch.data_bytes = std::max(batch.data_bytes, input.data_offset + whole_words);
    batch.blocks += blocks;
    batch.max_blocks = std::max(batch.max_blocks, blocks);
    batch.max_pixels = std::max(batch.max_pixels, header.layout.rows * header.layout.cols);
  }
  return batch;
}

}  // namespace eckart::compute::cuda
