// Packed rows of LargeBlocks: slots, `width` of them to a stripe, slot = group; and panels of a vector of slots, one
// coordinate of all of them after another. A panel is read as vectors where its rows are columns of a tile, and number by
// number where they are rows of it: one cache line for each coordinate either way.
#pragma once
#include <type_traits>

#include "sample.hpp"
#include "transpose.hpp"

namespace btests {
namespace BTESTS_ISA {

template <class T, int width> struct Panels {
    static constexpr int lanes = Types<T>::lanes;
    static constexpr std::int64_t stretch = 64;  // coordinates that are scaled while they are in first-level cache

    const Task& t;
    const std::int64_t d, g;
    Scratch<T> numbers, norms, scaled;
    std::int64_t n = 0;  // rows

    // A tile takes up to four vectors of slots at once.
    static std::int64_t capacity(std::int64_t n, std::int64_t g) { return ((n + g - 1) / g * width / lanes + 4) * lanes; }

    Panels(const Task& task, std::int64_t most)
        : t(task), d(task.d), g(task.n_groups), numbers(capacity(most, g) * d), norms(capacity(most, g)), scaled(lanes * d) {}

    std::int64_t slot(std::int64_t row) const { return row / g * width + row % g; }
    // Coordinate k of a slot is at place(slot)[k * lanes].
    const T* place(std::int64_t slot) const { return numbers.get() + slot / lanes * lanes * d + slot % lanes; }

    // Take rows start .. start + b - 1 of a sample, centred and scaled; slots without a row hold the origin.
    void pack(const Sample& s, std::int64_t start, std::int64_t b) {
        n = b;
        if (b == 0) return;
        const std::int64_t end = slot(b - 1) + 1;
        for (std::int64_t at = 0; at < end; at += lanes) {
            T* to = numbers.get() + at * d;
            const std::int64_t group = at % width, row = at / width * g + group;
            const std::int64_t filled = std::max<std::int64_t>(0, std::min<std::int64_t>({lanes, g - group, b - row}));
            for (std::int64_t i = 0; i < filled; ++i) prefetch_row(t, s, start + row + 2 * lanes + i);
            if (std::is_same<T, double>::value && !t.rows_are_float32 && filled == lanes) pack_doubles(s, start + row, to);
            else pack_any(s, start + row, filled, to);
            store(norms.get() + at, squared_norms(to));
        }
    }

    void pack_any(const Sample& s, std::int64_t start, std::int64_t filled, T* to) const {
        const T* from[lanes];
        for (int i = 0; i < lanes; ++i) {
            T* row = scaled.get() + i * d;
            from[i] = row;
            if (i < filled) each_coordinate<T>(t, s, start + i, [&](std::int64_t k, T v) { row[k] = v; });
            else std::memset(row, 0, d * sizeof(T));
        }
        transpose(from, d, to);
    }

    void pack_doubles(const Sample& s, std::int64_t start, T* to) const {
        const double* rows = static_cast<const double*>(s.rows);
        for (std::int64_t k = 0; k < d; k += stretch) {
            const double* from[lanes];
            for (int i = 0; i < lanes; ++i) from[i] = rows + (s.order ? s.order[start + i] : start + i) * d + k;
            const std::int64_t m = std::min(stretch, d - k);
            transpose(from, m, to + k * lanes);
            for (std::int64_t j = k; j < k + m; ++j)
                store(to + j * lanes, (load(to + j * lanes) - T(t.origin[j])) * T(t.scale));
        }
    }

    // All lanes in the same order, in every slot: equal rows must have equal norms.
    Vec<T> squared_norms(const T* panel) const {
        constexpr int chains = 4;
        Vec<T> sum[chains] = {};
        std::int64_t k = 0;
        for (; k + chains <= d; k += chains)
            for (int i = 0; i < chains; ++i) sum[i] += load(panel + (k + i) * lanes) * load(panel + (k + i) * lanes);
        for (; k < d; ++k) sum[0] += load(panel + k * lanes) * load(panel + k * lanes);
        return (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }
};

}  // namespace BTESTS_ISA
}  // namespace btests
