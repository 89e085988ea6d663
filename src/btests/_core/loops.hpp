// The loops of one instruction set: define BTESTS_ISA, BTESTS_BYTES and BTESTS_NAME, then include this.
#include "large_blocks.hpp"
#include "many_blocks.hpp"
#include "two_rows.hpp"

namespace btests {
namespace BTESTS_ISA {

template <class Shape, int D> void summarize_narrow(Task t) {
    if constexpr (!is_family<Shape>) {
        Task most = t;
        most.last_node = TwoRows<Shape, D>::end(t);
        TwoRows<Shape, D>{most}.run();
        t.values += t.edges[most.last_node] - t.edges[t.first_node];
        t.cores += (most.last_node - t.first_node) * 4;
        t.first_node = most.last_node;
    }
    if (t.first_node < t.last_node) ManyBlocks<double, Shape, D>(t).run();
}

template <class T, class Shape> void summarize_shape(const Task& t) {
    if (t.lanes_are_blocks) {
        if (std::is_same<T, double>::value && t.d == 1) return summarize_narrow<Shape, 1>(t);
        if (std::is_same<T, double>::value && t.d == 2) return summarize_narrow<Shape, 2>(t);
        return ManyBlocks<T, Shape, 0>(t).run();  // only the narrowest data unroll the loop over coordinates
    }
    constexpr int narrow = Types<T>::lanes > 8 ? Types<T>::lanes : 8;
    if (t.n_groups <= narrow) return LargeBlocks<T, Shape, narrow>(t).run();
    return LargeBlocks<T, Shape, 32>(t).run();
}

template <class T> int summarize(const Task& t) try {
    switch (t.shape) {
        case GAUSSIAN: summarize_shape<T, GaussianShape>(t); return 0;
        case LAPLACIAN: summarize_shape<T, LaplacianShape>(t); return 0;
        case GAUSSIANS:
            if constexpr (std::is_same<T, double>::value) { summarize_shape<T, FamilyShape<Euclidean>>(t); return 0; }
            return 1;  // families are for doubles only
        case LAPLACIANS:
            if constexpr (std::is_same<T, double>::value) { summarize_shape<T, FamilyShape<CityBlock>>(t); return 0; }
            return 1;
        case DISTANCE: summarize_shape<T, DistanceShape>(t); return 0;
        case MATERN:
            switch (t.power) {
                case 0: summarize_shape<T, MaternShape<0>>(t); return 0;
                case 1: summarize_shape<T, MaternShape<1>>(t); return 0;
                case 2: summarize_shape<T, MaternShape<2>>(t); return 0;
            }
            return 1;
        case RATIONAL:
            switch (t.power) {
                case 1: summarize_shape<T, RationalShape<1>>(t); return 0;
                case 2: summarize_shape<T, RationalShape<2>>(t); return 0;
            }
            return 1;
    }
    return 1;
} catch (const std::bad_alloc&) {
    return 2;
}

// out[r] = sum over folds of s' C s for the draws r of words first_word .. last_word - 1, 64 draws to a word.
void flip(const double* cores, const std::uint64_t* words, double* out, std::int64_t n_folds, std::int64_t g,
          std::int64_t n_words, std::int64_t first_word, std::int64_t last_word) {
    constexpr int together = 16 / double_lanes > 0 ? 16 / double_lanes : 1;  // vectors of draws in flight
    constexpr int draws = together * double_lanes;
    alignas(64) double signs[33 * draws];  // 32 groups, and one for what never swaps
    for (std::int64_t w = first_word; w < last_word; ++w)
        for (int chunk = 0; chunk < 64; chunk += draws) {
            Doubles total[together] = {};
            for (std::int64_t f = 0; f < n_folds; ++f) {
                const double* c = cores + f * g * g;
                for (std::int64_t u = 0; u < g; ++u) {
                    const std::uint64_t bits = words[(f * g + u) * n_words + w] >> chunk;
                    for (int r = 0; r < draws; ++r) {
                        const std::uint64_t one = 0x3FF0000000000000ull | ((bits >> r) << 63);  // 1.0 or -1.0
                        std::memcpy(signs + u * draws + r, &one, 8);
                    }
                }
                for (std::int64_t u = 0; u + 1 < g; ++u) {
                    Doubles field[together] = {};
                    for (std::int64_t v = u + 1; v < g; ++v) {
                        const Doubles h = spread(c[u * g + v]);
                        for (int j = 0; j < together; ++j) field[j] += h * load(signs + v * draws + j * double_lanes);
                    }
                    for (int j = 0; j < together; ++j) total[j] += field[j] * load(signs + u * draws + j * double_lanes);
                }
            }
            for (int j = 0; j < together; ++j) store(out + w * 64 + chunk + j * double_lanes, total[j] + total[j]);
        }
}

// The machine's own limits, for the benchmark: how fast can this core sum exponentials, and multiply and add.
template <class T> double exponentials(std::int64_t n) {
    constexpr int lanes = Types<T>::lanes, size = 8192 / sizeof(T), chains = 4;
    Scratch<T> q(size);
    for (int i = 0; i < size; ++i) q[i] = T(i % 97) * T(0.37);
    Vec<T> sum[chains] = {};
    for (std::int64_t done = 0; done < n; done += size) {
        for (int i = 0; i < size; i += chains * lanes)
            for (int j = 0; j < chains; ++j) sum[j] += GaussianShape::value<T>(load(q.get() + i + j * lanes));
        __asm__ volatile("" ::: "memory");
    }
    double total = 0;
    for (auto& s : sum) for (int i = 0; i < lanes; ++i) total += double(s[i]);
    return total;
}

template <class T> double products(std::int64_t n) {
    constexpr int lanes = Types<T>::lanes, chains = 12;
    Vec<T> a[chains];
    for (int j = 0; j < chains; ++j) a[j] = spread(T(j));
    Vec<T> b = spread(T(0.999)), c = spread(T(1e-3));
    for (std::int64_t done = 0; done < n; done += chains * lanes) {
#pragma GCC unroll 12
        for (int j = 0; j < chains; ++j) a[j] = a[j] * b + c;
    }
    double total = 0;
    for (auto& v : a) for (int i = 0; i < lanes; ++i) total += double(v[i]);
    return total;
}

double sum_exponentials(std::int64_t n, std::int32_t f) { return f ? exponentials<float>(n) : exponentials<double>(n); }
double sum_products(std::int64_t n, std::int32_t f) { return f ? products<float>(n) : products<double>(n); }

extern const Loops loops;
const Loops loops = {BTESTS_NAME, summarize<double>, summarize<float>, flip, sum_exponentials, sum_products};

}  // namespace BTESTS_ISA
}  // namespace btests
