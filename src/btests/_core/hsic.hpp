// HSIC of blocks of pairs (x, y) and its moments under swaps of y within tuples of q rows: Gram matrices of x and of y in
// tiles of q x q values, their Walsh transforms, and products of these, summed by pairs of groups of tuples.
#pragma once
#include <memory>

#include "hsic_sums.hpp"
#include "tile_values.hpp"
#include "walsh.hpp"

namespace btests {
namespace BTESTS_ISA {

// The kernels of x or of y.
template <int q> struct HsicSide {
    const Task& t;
    TupleRows rows;
    TileValues tile_values;
    WalshTiles<q> tiles;
    Scratch<double> values;   // [kernel][a][b][lane]
    Scratch<double> offsets;  // [kernel][lane]: a constant changes nothing, and wide kernels keep their digits without it
    Scratch<double> margins;  // [kernel][vector][alpha][lane]: transformed row sums
    Scratch<double> row_sums; // [kernel][alpha][lane]: the same of one tuple, if lanes are tuples
    const std::int64_t most;  // vectors

    HsicSide(const Task& task, std::int64_t most_vectors)
        : t(task), rows(task, most_vectors), tile_values(task, rows), tiles(task.n_kernels),
          values(task.n_kernels * q * q * double_lanes), offsets(task.n_kernels * double_lanes),
          margins(task.n_kernels * most_vectors * q * double_lanes), row_sums(task.n_kernels * q * double_lanes), most(most_vectors) {}

    double* values_of(std::int64_t kernel) const { return values.get() + kernel * q * q * double_lanes; }
    double* margins_of(std::int64_t kernel, std::int64_t vector) const { return margins.get() + (kernel * most + vector) * q * double_lanes; }
    double* row_sums_of(std::int64_t kernel) const { return row_sums.get() + kernel * q * double_lanes; }

    void pack(const Tuples& tuples, std::int64_t block, int n_used) {
        rows.pack(tuples, sample_x(t), block, n_used);
        tile_values.compute(tuples.vector(0, 0), tuples.lane(0), tuples.vector(1, 0), values.get());
        for (std::int64_t kernel = 0; kernel < t.n_kernels; ++kernel) {  // the mean between the first two tuples
            Doubles sum = {};
            for (int i = 0; i < q * q; ++i) sum += load(values_of(kernel) + i * double_lanes);
            sum *= 1.0 / (q * q);
            store(offsets.get() + kernel * double_lanes, tuples.lanes_are_blocks ? sum : broadcast(double(sum[0])));
        }
    }

    void clear_margins(std::int64_t first, std::int64_t last) {
        for (std::int64_t kernel = 0; kernel < t.n_kernels; ++kernel)
            std::memset(margins_of(kernel, first), 0, (last - first) * q * double_lanes * sizeof(double));
    }
    void clear_row_sums() { std::memset(row_sums.get(), 0, t.n_kernels * q * double_lanes * sizeof(double)); }

    // Add the sums over lanes of a tuple to its margins.
    void add_row_sums(std::int64_t vector, std::int64_t lane) {
        for (std::int64_t kernel = 0; kernel < t.n_kernels; ++kernel)
            for (int alpha = 0; alpha < q; ++alpha)
                margins_of(kernel, vector)[alpha * double_lanes + lane] += sum_by_halves(load(row_sums_of(kernel) + alpha * double_lanes));
    }

    // Write margins as [kernel][tuple][alpha][lane].
    void write_margins(const Tuples& tuples, std::int64_t u, std::int64_t n_rows, std::int64_t width, double* to) const {
        for (std::int64_t kernel = 0; kernel < t.n_kernels; ++kernel)
            for (std::int64_t v = u; v <= tuples.g; ++v)
                for (std::int64_t i = 0; i < tuples.n_of(v); ++i) {
                    const double* from = margins_of(kernel, tuples.vector(v, i)) + tuples.lane(i);
                    double* at = to + (kernel * n_rows + tuples.number(v, i) * q) * width;
                    for (int alpha = 0; alpha < q; ++alpha)
                        std::memcpy(at + alpha * width, from + alpha * double_lanes, width * sizeof(double));
                }
    }
};

template <int q> struct Hsic {
    const Task &tx, &ty;
    Task all;  // with a kernel for each pair of kernels
    const HsicSums sums;
    NodeSums nodes;
    HsicSide<q> x, y;
    Scratch<double> products;  // [alpha][beta][kernel of x][kernel of y][lane], of two groups
    Scratch<double> own;       // all parts of the sums, if the caller has no memory for them
    int n_tiles = 0;           // transformed, but not multiplied yet

    Hsic(const Task& one, const Task& other)
        : tx(one), ty(other), all(of_pairs(one, other)), sums(one, other), nodes(all, (q - 1) * one.n_groups + 1),
          x(one, most_vectors(one)), y(other, most_vectors(one)), products(q * q * all.n_kernels * double_lanes),
          own(one.sums ? 0 : sums.n_parts() * sums.part_size(), false) {}

    static Task of_pairs(const Task& one, const Task& other) {
        Task t = one;
        t.n_kernels *= other.n_kernels;
        return t;
    }
    static std::int64_t most_vectors(const Task& t) { return Tuples(t, t.n_x / t.n_blocks + 1).n_vectors() + 1; }

    bool is_known() const { return x.tile_values.is_known() && y.tile_values.is_known(); }

    void run() {
        const Sample rows = sample_x(tx);
        const std::int64_t first = tx.edges[tx.first_node];
        std::int64_t node = tx.first_node;
        for (std::int64_t i = first, n; i < tx.edges[tx.last_node]; i += n) {
            // Blocks of one size that are computed together.
            const std::int64_t end = std::min(tx.edges[tx.last_node], i < rows.longer ? rows.longer : rows.n);
            n = tx.lanes_are_blocks ? std::min<std::int64_t>(double_lanes, end - i) : 1;
            const Tuples tuples(tx, rows.size(i));
            double* parts = tx.sums ? tx.sums + (i - first) * sums.n_parts() * sums.part_size() : own.get();
            if (tx.step != CONCLUDE_STEP) add_up(tuples, i, static_cast<int>(n), parts);
            if (tx.step == SUM_STEP) continue;
            sums.join(parts);
            for (std::int64_t lane = 0; lane < n; ++lane) {
                while (i + lane >= tx.edges[node + 1]) ++node;
                for (std::int64_t pair = 0; pair < all.n_kernels; ++pair) {
                    tx.values[pair * tx.values_step + i + lane - first] = sums.conclude(
                        tuples, parts, lane, pair / ty.n_kernels, pair % ty.n_kernels, nodes.fresh(pair));
                    nodes.add(pair, node, i + lane, 0);
                }
            }
        }
    }

    // Sum over the tiles of a block: those of one part, for SUM_STEP, or of all.
    void add_up(const Tuples& tuples, std::int64_t block, int n_used, double* parts) {
        x.pack(tuples, block, n_used);
        y.pack(tuples, block, n_used);
        for (std::int64_t u = 0; u < sums.n_parts(); ++u)
            if (tx.step != SUM_STEP || u == tx.part) add_part(tuples, u, parts + u * sums.part_size());
    }

    void add_part(const Tuples& tuples, std::int64_t u, double* part) {
        sums.clear_margins(part);
        for (HsicSide<q>* side : {&x, &y}) side->clear_margins(tuples.first[u], tuples.n_vectors());
        for (std::int64_t v = u; v <= tuples.g; ++v) {
            std::memset(products.get(), 0, q * q * all.n_kernels * double_lanes * sizeof(double));
            for (std::int64_t i = 0; i < tuples.n_of(u) && tuples.n_of(v); ++i) {
                const std::int64_t row = tuples.vector(u, i);
                for (HsicSide<q>* side : {&x, &y}) side->clear_row_sums();
                for (std::int64_t column = u == v ? row : tuples.first[v]; column < tuples.first[v + 1]; ++column) {
                    add_tile(tuples, u, i, v, column);
                    if (++n_tiles == WalshTiles<q>::n_tiles) flush();
                }
                if (tuples.lanes_are_blocks) continue;
                for (HsicSide<q>* side : {&x, &y}) side->add_row_sums(row, tuples.lane(i));
            }
            flush();
            write_products(v, part);
        }
        x.write_margins(tuples, u, sums.n_rows, sums.width, sums.margins(part, 0));
        y.write_margins(tuples, u, sums.n_rows, sums.width, sums.margins(part, sums.n_x));
    }

    // Transform the tiles of tuple i of group u with a vector of tuples of group v. A pair of tuples is in one tile, which
    // stands for both orders: of a tuple and itself, the tile has weight 1/2, and a diagonal of 0.
    void add_tile(const Tuples& tuples, std::int64_t u, std::int64_t i, std::int64_t v, std::int64_t column) {
        const std::int64_t row = tuples.vector(u, i), first = (column - tuples.first[v]) * tuples.at_once();
        const bool has_own = row == column, is_full = tuples.lanes_are_blocks || first + double_lanes <= tuples.n_of(v);
        Doubles weights = broadcast(1.0), twice = broadcast(1.0);
        for (int lane = 0; lane < double_lanes; ++lane) {
            const std::int64_t tuple = first + (tuples.lanes_are_blocks ? 0 : lane);
            if (tuple >= tuples.n_of(v) || (has_own && tuple < i)) weights[lane] = 0.0;
            else if (has_own && tuple == i) weights[lane] = 0.5, twice[lane] = 2.0;
        }
        const bool all_count = is_full && !has_own && v < tuples.g;
        for (HsicSide<q>* side : {&x, &y}) {
            side->tile_values.compute(row, tuples.lane(i), column, side->values.get());
            for (std::int64_t kernel = 0; kernel < side->t.n_kernels; ++kernel) {
                Doubles offset = load(side->offsets.get() + kernel * double_lanes);
                double* values = side->values_of(kernel);
                if (!all_count) {
                    weigh(values, offset, weights, twice, tuples.n_members(u), tuples.n_members(v));
                    offset = Doubles{};
                }
                double* rows = tuples.lanes_are_blocks ? side->margins_of(kernel, row) : side->row_sums_of(kernel);
                side->tiles.put(kernel, n_tiles, values, offset, rows, side->margins_of(kernel, column));
            }
        }
        if (has_own) y.tiles.multiply(n_tiles, twice);  // the product has the weight once
    }

    // Values less their offset times their weight, 0 on the diagonal of tiles of a tuple and itself and for missing members.
    static void weigh(double* values, Doubles offset, Doubles weights, Doubles twice, std::int64_t n_rows, std::int64_t n_columns) {
        const Doubles beside = twice > 1.0 ? Doubles{} : weights;
        for (int a = 0; a < q; ++a)
            for (int b = 0; b < q; ++b) {
                double* at = values + (a * q + b) * double_lanes;
                const Doubles weight = a < n_rows && b < n_columns ? (a == b ? beside : weights) : Doubles{};
                store(at, weight > 0.0 ? (load(at) - offset) * weight : Doubles{});
            }
    }

    void flush() {
        add_products<q>(x.tiles, y.tiles, n_tiles, products.get());
        n_tiles = 0;
    }

    // Sums over lanes, if these are tuples, as sums of a part.
    void write_products(std::int64_t v, double* part) const {
        for (std::int64_t i = 0; i < sums.n_x; ++i)
            for (std::int64_t j = 0; j < sums.n_y; ++j) {
                double* to = sums.products(part, i, j, v);
                for (int position = 0; position < q * q; ++position, to += sums.width) {
                    const Doubles sum = load(products.get() + ((position * sums.n_x + i) * sums.n_y + j) * double_lanes);
                    if (sums.width == 1) *to = sum_by_halves(sum);
                    else store(to, sum);
                }
            }
    }
};

template <int q> int hsic_of(const Task& x, const Task& y) {
    const auto run = std::make_unique<Hsic<q>>(x, y);
    if (!run->is_known()) return 1;
    run->run();
    return 0;
}

}  // namespace BTESTS_ISA
}  // namespace btests
