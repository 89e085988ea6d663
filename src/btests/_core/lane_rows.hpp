// Packed rows of ManyBlocks: those of as many blocks as a vector has lanes, side by side.
#pragma once
#include <type_traits>

#include "sample.hpp"
#include "transpose.hpp"

namespace btests {
namespace BTESTS_ISA {

// Whether -q = 2 x.y - |x|^2 - |y|^2 may stand for a distance from differences: it costs half as much, and is
// off by some roundings of the squared norms. Those are in units in which the kernel is 2^-q, so that below this bound
// the kernel value is off by no more than 1e-13 (1e-6 in float32).
template <class T> constexpr T largest_norm = std::is_same<T, double>::value ? T(64) : T(4);

// Whether rows are near enough to the origin for that: in some lanes, in others not.
enum Near : unsigned char { near_in_all = 1, near_in_none = 2, near_in_some = 3 };
inline Near operator|(Near a, Near b) { return static_cast<Near>(static_cast<int>(a) | static_cast<int>(b)); }

template <class T, int D> struct LaneRows {
    static constexpr int lanes = Types<T>::lanes;
    static constexpr bool is_double = std::is_same<T, double>::value;

    const Task& t;
    const std::int64_t d;
    const double scale;
    Scratch<T> numbers;      // [row][coordinate][lane]
    Scratch<T> norms;        // [row][lane]: -|x|^2

    // Numbers are `larger` than in the units in which the kernel is 2^-q.
    LaneRows(const Task& task, std::int64_t capacity, double larger)
        : t(task), d(D ? D : task.d), scale(task.scale * larger), numbers(capacity * d * lanes), norms(capacity * lanes) {}

    const T* row(std::int64_t i) const { return numbers.get() + i * (D ? D : d) * lanes; }
    Vec<T> norm(std::int64_t i) const { return load(norms.get() + i * lanes); }
    static Ints<T> is_near(Vec<T> norm) { return norm >= -largest_norm<T>; }

    // Put the rows of each lane's block side by side; spare lanes repeat the last block. A block with one row less has the
    // origin in its place, in x and in y: h of a pair with it is exactly 0.
    template <class Input> void pack(const Sample& s, T* out, std::int64_t first, int n_used, std::int64_t b) const {
        const Input* rows = static_cast<const Input*>(s.rows);
        const std::int64_t n_coordinates = D ? D : d;
        const double* __restrict origin = t.origin;
        const Input* from[lanes];
        if (!is_double || s.order || s.size(first + n_used - 1) != b) {  // row by row
            for (std::int64_t r = 0; r < b; ++r) {
                T* to = out + r * n_coordinates * lanes;
                bool missing = false;
                for (int lane = 0; lane < lanes; ++lane) {
                    const std::int64_t block = first + std::min(lane, n_used - 1), own = s.size(block);
                    const std::int64_t at = s.start(block) + std::min(r, own - 1);
                    missing = r == own;
                    if (s.order) prefetch_row(t, s, at + 16);
                    from[lane] = rows + (s.order ? s.order[at] : at) * n_coordinates;
                }
                if constexpr (is_double) transpose(from, n_coordinates, to);
                // Centred before rounding to float; doubles are centred below, as vectors.
                else for (std::int64_t k = 0; k < n_coordinates; ++k) {
                    Vec<T> v;
                    for (int lane = 0; lane < lanes; ++lane) v[lane] = T((double(from[lane][k]) - origin[k]) * scale);
                    store(to + k * lanes, v);
                }
                if (missing) put_origin(s, to, first);
            }
        } else {  // all numbers of a block lie one after another
            for (int lane = 0; lane < lanes; ++lane)
                from[lane] = rows + (s.start(first) + std::min(lane, n_used - 1) * b) * n_coordinates;
            if constexpr (is_double) transpose(from, b * n_coordinates, out);
        }
        if (!is_double) return;
        for (std::int64_t r = 0; r < b; ++r)
            for (std::int64_t k = 0; k < n_coordinates; ++k, out += lanes)
                store(out, (load(out) - T(origin[k])) * T(scale));
    }
    void put_origin(const Sample& s, T* row, std::int64_t first) const {
        const std::int64_t first_short = std::max<std::int64_t>(s.longer - first, 0);
        for (std::int64_t k = 0; k < d; ++k)
            for (std::int64_t lane = first_short; lane < lanes; ++lane) row[k * lanes + lane] = is_double ? T(t.origin[k]) : T(0);
    }
    void pack(const Sample& s, std::int64_t first, int n_used, std::int64_t b) {
        if (t.rows_are_float32) pack<float>(s, numbers.get(), first, n_used, b);
        else pack<double>(s, numbers.get(), first, n_used, b);
    }

    Near measure(std::int64_t i) {
        Vec<T> sum = {};
        for (std::int64_t k = 0; k < d; ++k) sum += load(row(i) + k * lanes) * load(row(i) + k * lanes);
        store(norms.get() + i * lanes, sum * T(-0.5));  // numbers are larger by the root of 2
        const Ints<T> near = is_near(norm(i));
        int n = 0;
        for (int lane = 0; lane < lanes; ++lane) n += near[lane] != 0;
        return n == lanes ? near_in_all : n == 0 ? near_in_none : near_in_some;
    }
};

}  // namespace BTESTS_ISA
}  // namespace btests
