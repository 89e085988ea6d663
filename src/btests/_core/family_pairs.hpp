// Layout FamilyPairs: ManyBlocks for all kernels of a family. Pairs of rows are collected, and their distances and kernel
// values stay in cache from one kernel to the next. The steps of one pair depend on one another; those of 32 pairs are
// independent, and whether any value is not yet 0 is tested once for all.
#pragma once
#include <algorithm>
#include <array>

#include "families.hpp"
#include "lane_rows.hpp"
#include "powers.hpp"

namespace btests {
namespace BTESTS_ISA {

template <class Metric, int D> class FamilyPairs {
public:
    static constexpr int lanes = double_lanes;
    static constexpr int most = 32;  // pairs at a time: their numbers take half of the fastest cache
    using Rows = LaneRows<double, D>;

    FamilyPairs(const Task& task, const Rows& xs, const Rows& ys)
        : t_(task), d_(D ? D : task.d), xs_(xs), ys_(ys), levels_(task), powers_(task), q_(4 * most * lanes), u_(4 * most * lanes) {}

    // Numbers of a cell: one for each kernel, and for powers.
    std::int64_t n_slots() const { return t_.n_kernels + powers_.n_more(); }

    // Add h of rows a = u, u + g, .. and rows b = v, v + g, .. below `end`, each pair of them once, to cells [slot][lane],
    // now or at the next flush().
    void add(std::int64_t u, std::int64_t v, std::int64_t g, std::int64_t end, double* cells) {
        int n = n_;
        auto begin = [&] {
            if (n == most || n_runs_ == most) n_ = n, flush(), n = 0;
            runs_[n_runs_++] = {cells, -n};  // to which the number after the last is added
        };
        begin();
        for (std::int64_t a = u; a < end; a += g)
            for (std::int64_t b = u == v ? a + g : v; b < end; b += g) {
                if (n == most) runs_[n_runs_ - 1].n += n, begin();
                a_[n] = a, b_[n++] = b;
            }
        runs_[n_runs_ - 1].n += n;
        n_ = n;
    }
    // Add the collected pairs.
    void flush() {
        if (n_) compute();
        n_ = n_runs_ = 0;
    }
    // Turn the sums of powers of a cell into sums of its wide kernels.
    void conclude(double* cells) const { if (powers_.n_wide) powers_.conclude(cells); }

private:
    enum From { last, distances };
    enum Drop { never, if_all_are_zero };
    struct Run { double* cells; int n; };  // pairs, one after another, of the same cells

    void compute() {
        const bool near = measure() <= Powers::reach;
        if (powers_.n_wide) add_wide(near);
        if (levels_.doubling) halve(near);
        else each();
    }

    // The four distances of each pair, xx, yy, xy, yx; return the largest. Pairs that share row a share its loads.
    double measure() {
        constexpr int some = BTESTS_BYTES == 64 ? 4 : 2;  // by registers
        Doubles largest = {};
        int i = 0;
        for (; i + some <= n_; i += some) {
            bool shared = true;  // between its first and its last pair may be those of another row
            for (int j = 1; j < some; ++j) shared &= a_[i] == a_[i + j];
            if (shared) measure<some, true>(i, largest);
            else measure<some, false>(i, largest);
        }
        for (; i < n_; ++i) measure<1, true>(i, largest);
        for (i = 0; i < n_; ++i) of_[i] = i;
        double found = 0.0;
        for (int lane = 0; lane < lanes; ++lane) found = std::max(found, largest[lane]);
        return found;
    }
    template <int n, bool shared> BTESTS_INLINE void measure(int first, Doubles& largest) {
        const std::int64_t n_coordinates = D ? D : d_, *a = a_.data() + first, *b = b_.data() + first;
        Doubles q[n][4] = {};
        for (std::int64_t k = 0; k < n_coordinates; ++k) {
            Doubles xa = load(xs_.row(a[0]) + k * lanes), ya = load(ys_.row(a[0]) + k * lanes);
            for (int i = 0; i < n; ++i) {
                if (!shared && i > 0) {
                    xa = in_register(load(xs_.row(a[i]) + k * lanes));
                    ya = in_register(load(ys_.row(a[i]) + k * lanes));
                }
                const Doubles xb = in_register(load(xs_.row(b[i]) + k * lanes));
                const Doubles yb = in_register(load(ys_.row(b[i]) + k * lanes));
                q[i][0] = Metric::template term<double>(q[i][0], xa - xb);
                q[i][1] = Metric::template term<double>(q[i][1], ya - yb);
                q[i][2] = Metric::template term<double>(q[i][2], xa - yb);
                q[i][3] = Metric::template term<double>(q[i][3], ya - xb);
            }
        }
        for (int i = 0; i < n; ++i)
            for (int of = 0; of < 4; ++of) {
                largest = q[i][of] > largest ? q[i][of] : largest;
                store(q_.get() + ((first + i) * 4 + of) * lanes, q[i][of]);
            }
    }

    void add_wide(bool near) const {
        const double* q = q_.get();
        for (const Run *run = runs_.data(), *end = run + n_runs_; run < end; q += run->n * 4 * lanes, ++run) {
            if (near) powers_.add(q, run->n, run->cells);
            else powers_.add_far(q, run->n, run->cells);
        }
    }

    // Apply steps to the four vectors of each pair, the first step to those of the last level or to distances; add h after
    // each step to the sum of its level, from `level` on, and return the sum of all vectors after the last step. `Drop`
    // pairs whose values are all 0: few pairs of rows are close enough for the narrowest kernels.
    template <From from, Drop drop, class... Steps> BTESTS_INLINE Doubles pass(std::int64_t level, Steps... steps) {
        constexpr int n_steps = sizeof...(Steps);
        const double* next = u_.get();
        double* to = u_.get();
        Doubles all = {};
        int i = 0, n_left = 0;
        for (Run *run = runs_.data(), *end = run + n_runs_; run < end; ++run) {
            if (!run->n) continue;
            const int n_before = n_left;
            Doubles sums[n_steps] = {};
            for (const int last = i + run->n; i < last; ++i, next += 4 * lanes) {
                Doubles u[4], left = {};
                for (int of = 0; of < 4; ++of) u[of] = load((from == distances ? q_.get() + of_[i] * 4 * lanes : next) + of * lanes);
                auto take = [&](auto step, Doubles& sum) BTESTS_INLINE {
                    step(u);
                    // h of each pair by itself: h of padding is 0.
                    const Doubles within = u[0] + u[1], across = u[2] + u[3];
                    sum += within - across, left = within + across;
                };
                Doubles* sum = sums;
                (take(steps, *sum++), ...);
                for (int of = 0; of < 4; ++of) store(to + of * lanes, u[of]);
                if constexpr (drop == if_all_are_zero) {
                    const bool stays = any_above(left, Doubles{});
                    of_[n_left] = of_[i];
                    n_left += stays, to += stays ? 4 * lanes : 0;
                } else all += left, to += 4 * lanes;
            }
            if (drop == if_all_are_zero) run->n = n_left - n_before;
            double* at = run->cells + level * lanes;
            for (int s = 0; s < n_steps; ++s, at += lanes) store(at, load(at) + sums[s]);
        }
        if (drop == if_all_are_zero) n_ = n_left;
        return all;
    }
    struct Fresh {
        double ratio;
        BTESTS_INLINE void operator()(Doubles* q) const { for (int i = 0; i < 4; ++i) q[i] = exp2_minus_one(q[i] * ratio); }
    };
    struct Square {  // of k, in terms of u
        std::int32_t times;
        BTESTS_INLINE void operator()(Doubles* u) const {
            // Some twos are factors and others summands: processors with separate units for both keep both busy.
            const Doubles two = in_register(broadcast(2.0));
            for (std::int32_t s = 0; s < times; ++s)
                for (int i = 0; i < 4; ++i) u[i] = u[i] * u[i] + (i % 2 ? u[i] * two : u[i] + u[i]);
        }
    };
    struct Fourth {  // power of k
        BTESTS_INLINE void operator()(Doubles* k) const { for (int i = 0; i < 4; ++i) k[i] *= k[i], k[i] *= k[i]; }
    };
    // The same, and what is less than a rounding of 1 becomes 0, as u comes down to -1: before squares underflow, and so
    // that the sums to come are the same to the last bit whether or not a pair is dropped.
    struct FourthOrZero {
        BTESTS_INLINE void operator()(Doubles* k) const { for (int i = 0; i < 4; ++i) k[i] = square_from(k[i], 0x1p-13), k[i] *= k[i]; }
    };
    struct FirstFourth {  // from u
        BTESTS_INLINE void operator()(Doubles* u) const { for (int i = 0; i < 4; ++i) u[i] += 1.0, u[i] *= u[i], u[i] *= u[i]; }
    };

    // Whether a sum says that all u are -1, or so near that their squares are.
    bool vanish(Doubles all) const { return !any_above(all, broadcast(-4.0 * n_)); }

    void each() {
        Doubles all = pass<distances, never>(0, Fresh{t_.ratios[0]});
        for (std::int64_t level = 1; level < t_.n_kernels && !vanish(all); ++level) {
            const std::int32_t times = t_.squarings[level];
            all = times ? pass<last, never>(level, Square{times}) : pass<distances, never>(level, Fresh{t_.ratios[level]});
        }
    }

    // Where all kernels double, from the first level on that is not wide: first some levels of u, then k, which takes half
    // of the operations, then a new exponential. Only differences between what a level gets matter.
    void halve(bool near) {
        constexpr Square twice{2};
        std::int64_t level = t_.n_wide, left = t_.n_kernels - level;
        if (left == 0) return;
        if (level == 0) pass<distances, never>(0, Fresh{1.0});
        else if (near) pass<distances, never>(level, Powers::Next());
        else pass<distances, never>(level, Powers::NextFar());
        for (;;) {
            ++level, --left;
            static_assert(Levels::n_exact == 5, "the first level and four more");
            Doubles all = broadcast(infinity<double>);
            if (left >= 4) {
                pass<last, never>(level, twice, twice);
                all = pass<last, never>(level + 2, twice, twice);
                level += 4, left -= 4;
            } else for (; left; ++level, --left) pass<last, never>(level, twice);
            if (left == 0 || vanish(all)) return;
            for (int i = 0; i < Levels::n_fast; ++i, level += 2, left -= 2) {
                if (left == 1) return i ? (void)pass<last, never>(level, Fourth()) : (void)pass<last, never>(level, FirstFourth());
                if (i) pass<last, if_all_are_zero>(level, Fourth(), FourthOrZero());
                else pass<last, if_all_are_zero>(level, FirstFourth(), FourthOrZero());
                if (left == 2 || n_ == 0) return;
            }
            pass<distances, never>(level, Fresh{levels_.ratio(level)});
        }
    }

    const Task& t_;
    const std::int64_t d_;
    const Rows &xs_, &ys_;
    const Levels levels_;
    const Powers powers_;
    Scratch<double> q_, u_;  // [pair][xx, yy, xy, yx][lane]: distances, and k - 1 or k
    std::array<std::int64_t, most> a_, b_;
    std::array<int, most> of_;  // where the distances are of each pair that is left
    std::array<Run, most> runs_;
    int n_ = 0, n_runs_ = 0;
};

}  // namespace BTESTS_ISA
}  // namespace btests
