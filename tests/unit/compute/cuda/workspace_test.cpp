#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "compute/cuda/layout/factors.hpp"
#include "compute/cuda/layout/rank_groups.hpp"
#include "compute/cuda/layout/subspace_sizes.hpp"
#include "compute/cuda/layout/workspace_allocator.hpp"

namespace eckart::compute::cuda {
namespace {

using Half = std::uint16_t;  // the size of __half

struct MemoryRange {
  const void* begin;
  std::size_t bytes;
};

template <class T>
MemoryRange memory_range(const T* begin, double count) {
  return {begin, std::size_t(count) * sizeof(T)};
}

/// Expects that the ranges are aligned, do not overlap, and are inside `workspace` of `bytes`
/// bytes.
void expect_disjoint(std::vector<MemoryRange> ranges, const std::byte* workspace,
                     std::size_t bytes) {
  std::sort(ranges.begin(), ranges.end(), [](auto& a, auto& b) { return a.begin < b.begin; });
  const std::byte* end = workspace;
  for (const MemoryRange& one : ranges) {
    const auto* begin = static_cast<const std::byte*>(one.begin);
    EXPECT_GE(begin, end);
    EXPECT_EQ((begin - workspace) % 256, 0);
    end = begin + one.bytes;
  }
  EXPECT_LE(end, workspace + bytes);
}

/// An address that is never accessed.
std::byte* const kWorkspace = reinterpret_cast<std::byte*>(std::uintptr_t(1) << 40);

TEST(CudaWorkspaceAllocator, counts_allocated_bytes) {
  for (std::size_t count = 0; count < 600; ++count) {
    WorkspaceAllocator counting(nullptr), allocator(kWorkspace);
    EXPECT_EQ(counting.allocate<float>(count), nullptr);
    const float* first = allocator.allocate<float>(count);
    EXPECT_EQ(static_cast<const void*>(first), kWorkspace);
    EXPECT_EQ(counting.used_bytes(), allocator.used_bytes());
    EXPECT_EQ(allocator.used_bytes(), WorkspaceAllocator::aligned_bytes<float>(count));
    const double* second = allocator.allocate<double>(1);
    expect_disjoint({memory_range(first, double(count)), memory_range(second, 1)}, kWorkspace,
                    allocator.used_bytes());
  }
}

std::vector<Problem> problems() {
  std::vector<Problem> all;
  for (const auto& [m, n] :
       {std::pair{64, 64}, {96, 32}, {500, 333}, {1000, 999}, {224, 192}, {4000, 160}}) {
    for (const int rank : {1, 5, 20, 31}) {
      for (const int count : {1, 3, 32})
        all.push_back({m, n, count, {3 > rank ? 1 : 3, rank}, 48, 3});
    }
  }
  return all;
}

TEST(CudaWorkspace, has_float16_buffers_that_do_not_overlap) {
  for (const Problem& problem : problems()) {
    const SubspaceSizes s(problem);
    EXPECT_EQ(s.m % 16 + s.n % 16 + s.k % 16, 0);
    EXPECT_GE(s.m, problem.m);
    EXPECT_LT(s.m, problem.m + 16);
    EXPECT_GE(s.n, problem.n);
    EXPECT_GE(s.k, problem.rank());
    WorkspaceAllocator counting(nullptr), allocator(kWorkspace);
    SubspaceBuffers<Half>::allocate(counting, s);
    const auto p = SubspaceBuffers<Half>::allocate(allocator, s);
    EXPECT_EQ(counting.used_bytes(), allocator.used_bytes());
    const double m = s.m, n = s.n, l = s.l, k = s.k, c = s.count;
    expect_disjoint({memory_range(p.a_hi_t, m * n * c), memory_range(p.a_lo_t, m * n * c),
                     memory_range(p.q_nl, 2 * n * l * c), memory_range(p.z_ml, m * l * c),
                     memory_range(p.product, std::max(m, n) * l * c),
                     memory_range(p.b_ml, m * l * c), memory_range(p.s_ll, l * l * c),
                     memory_range(p.s64_ll, l * l * c), memory_range(p.m_hi, l * l * c),
                     memory_range(p.m_lo, l * l * c), memory_range(p.m_scale, l * c),
                     memory_range(p.u_mk, 2 * m * k * c), memory_range(p.v_nk, 2 * n * k * c),
                     memory_range(p.tile_squared_norms, project_tile_count(s.n) * k * c),
                     memory_range(p.ill_conditioned, c)},
                    kWorkspace, allocator.used_bytes());
    // reorthonormalize() uses S, and small_svd() uses M, with k columns.
    EXPECT_LE(k, l);
  }
}

TEST(CudaWorkspace, has_float64_buffers_that_do_not_overlap) {
  for (const Problem& problem : problems()) {
    const double m = problem.m, n = problem.n, k = problem.rank(), c = problem.count;
    for (const int columns : {48, 129, 300}) {
      Problem wide = problem;
      wide.columns = columns;
      const double l = columns;
      WorkspaceAllocator counting(nullptr), allocator(kWorkspace);
      Float64SubspaceBuffers::allocate(counting, wide);
      const auto p = Float64SubspaceBuffers::allocate(allocator, wide);
      EXPECT_EQ(counting.used_bytes(), allocator.used_bytes());
      expect_disjoint(
          {memory_range(p.a_t_nm, m * n * c), memory_range(p.q_nl, n * l * c),
           memory_range(p.z_ml, m * l * c), memory_range(p.product, std::max(m, n) * l * c),
           memory_range(p.s_ll, l * l * c), memory_range(p.values_l, l * c),
           memory_range(p.u_mk, m * k * c), memory_range(p.v_nk, n * k * c),
           memory_range(p.qr.s, block_columns(columns) * l * c), memory_range(p.qr.norms, l * c)},
          kWorkspace, allocator.used_bytes());
    }
    WorkspaceAllocator allocator(kWorkspace);
    const auto p = FullSvdBuffers::allocate(allocator, problem);
    expect_disjoint({memory_range(p.a_t_nm, m * n * c), memory_range(p.v_nn, n * n * c),
                     memory_range(p.p_mk, m * k * c)},
                    kWorkspace, allocator.used_bytes());
  }
}

TEST(CudaWorkspace, has_column_blocks_that_are_nearly_equal_and_at_most_128) {
  for (int l = 1; l < 2000; ++l) {
    const int max_columns = block_columns(l), blocks = (l + max_columns - 1) / max_columns;
    ASSERT_LE(max_columns, 128) << l;
    ASSERT_EQ(max_columns % 16, 0) << l;
    ASSERT_EQ(blocks, (l + 127) / 128) << l << ": no more blocks than necessary";
    ASSERT_LT(max_columns * blocks, l + 16 * blocks) << l;
    for (int first = 0; first < l; first += max_columns) {  // the memory use of BlockCholeskyQr
      const int columns = std::min(max_columns, l - first), rest = l - first - columns;
      ASSERT_LE(columns * std::max(columns, rest), max_columns * l);
    }
  }
}

TEST(CudaFloat16Scale, keeps_columns_and_products_within_float16) {
  for (int rows = 1; rows < 70000; rows += (rows < 300 ? 1 : 97)) {
    const double scale = double(orthonormal_column_scale(rows));
    ASSERT_LE(scale * scale, rows);
    ASSERT_GT(4 * scale * scale, rows) << "the largest such power of two";
    ASSERT_EQ(scale, std::exp2(std::round(std::log2(scale))));
    // Entries of A are below 256. The absolute sum of a unit column is at most sqrt(rows).
    const double product = double(float16_product_scale(rows));
    ASSERT_LE(product * 256 * std::sqrt(double(rows)) * scale, 65536) << rows;
    ASSERT_GE(product * 256 * rows, 0.49 * std::min(65536.0, 256.0 * rows));
    ASSERT_EQ(product, std::exp2(std::round(std::log2(product))));
  }
}

/// P and V with entries that encode their position, in both orders of the columns.
TEST(CudaFactors, locates_every_element_in_either_order) {
  constexpr int m = 5, n = 4, planes = 3;
  for (const int v_columns : {4, 2}) {
    for (int k = 1; k <= v_columns; ++k) {
      for (const bool is_ascending : {false, true}) {
        const auto code = [](int plane, int t, int i) { return plane * 100.0 + t * 10 + i; };
        std::vector<double> p, v;
        for (int plane = 0; plane < planes; ++plane) {
          for (int at = 0; at < k; ++at) {
            const int t = is_ascending ? k - 1 - at : at;
            for (int i = 0; i < m; ++i) p.push_back(code(plane, t, i));
          }
          for (int at = 0; at < v_columns; ++at) {
            const int t = is_ascending ? v_columns - 1 - at : at;
            for (int i = 0; i < n; ++i) v.push_back(code(plane, t, i));
          }
        }
        const Factors f = make_factors(p.data(), m, v.data(), n, v_columns, k, is_ascending);
        for (int plane = 0; plane < planes; ++plane) {
          for (int t = 0; t < k; ++t) {
            for (int i = 0; i < m; ++i)
              ASSERT_EQ(f.p_mk[plane * f.p_plane + t * f.p_column + i], code(plane, t, i));
            for (int i = 0; i < n; ++i)
              ASSERT_EQ(f.v_nk[plane * f.v_plane + t * f.v_column + i], code(plane, t, i));
          }
        }
      }
    }
  }
}

TEST(CudaRankGroup, contains_every_rank_once_in_ascending_order) {
  const std::vector<int> ranks{20, 5, 90, 1, 300, 20, 7, 64, 16, 17, 33, 2, 48, 31, 8, 120, 4};
  for (std::size_t count = 1; count <= ranks.size(); ++count) {
    const std::vector<int> some(ranks.begin(), ranks.begin() + std::ptrdiff_t(count));
    std::vector<int> outputs(count);
    int last = 0;
    const auto groups = rank_groups(some, 100);
    EXPECT_EQ(groups.size(), (count + 7) / 8);
    for (const RankGroup& group : groups) {
      ASSERT_GE(group.count, 1);
      ASSERT_LE(group.count, kMaxGroupRanks);
      for (int i = 0; i < group.count; ++i) {
        ASSERT_GE(group.rank[i], last);
        last = group.rank[i];
        ASSERT_EQ(last, std::min(100, some.at(std::size_t(group.output[i]))));
        ++outputs.at(std::size_t(group.output[i]));
      }
    }
    EXPECT_EQ(outputs, std::vector<int>(count, 1));
  }
}

}  // namespace
}  // namespace eckart::compute::cuda
