// The loops of one instruction set. CMakeLists.txt compiles this file, hsic.cpp and fourier.cpp once for each, with
// BTESTS_ISA and BTESTS_BYTES defined. The choice between TwoRows, ManyBlocks and LargeBlocks is in the first two functions; README.md
// has a table of it.
#include <new>

#include "label_pairs.hpp"
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
        t.moments += (most.last_node - t.first_node) * 4;
        t.first_node = most.last_node;
    }
    if (t.first_node < t.last_node) ManyBlocks<double, Shape, D>(t).run();
}

template <class T, class Shape> void summarize_shape(const Task& t) {
    if (t.lanes_are_blocks) {
        if (std::is_same<T, double>::value && t.d == 1) return summarize_narrow<Shape, 1>(t);
        if (std::is_same<T, double>::value && t.d == 2) return summarize_narrow<Shape, 2>(t);
        return ManyBlocks<T, Shape, 0>(t).run();  // the loop over coordinates is unrolled for the narrowest data alone
    }
    constexpr int narrow = Types<T>::lanes > 8 ? Types<T>::lanes : 8;
    if (t.n_groups <= narrow) return LargeBlocks<T, Shape, narrow>(t).run();
    return LargeBlocks<T, Shape, MAX_GROUPS>(t).run();
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

// Write 1.0 or -1.0 for each of the lowest bits, -1.0 where it is set, n vectors of them.
template <int n> BTESTS_INLINE inline void write_signs(std::uint64_t bits, double* out) {
    typedef std::uint64_t Words __attribute__((vector_size(BTESTS_BYTES)));
    Words shift;
    for (int lane = 0; lane < double_lanes; ++lane) shift[lane] = 63 - lane;
    for (int j = 0; j < n; ++j) {
        const Words top = (((bits >> j * double_lanes) - Words{}) << shift) & (std::uint64_t(1) << 63);
        store(out + j * double_lanes, (Doubles)(top | std::uint64_t(0x3FF0000000000000)));
    }
}

// out[r] = sum over strata of s' C s for the draws r of words first_word .. last_word - 1, 64 draws to a word.
void flip(const double* moments, const std::uint64_t* words, double* out, std::int64_t n_strata, std::int64_t g,
          std::int64_t n_words, std::int64_t first_word, std::int64_t last_word) {
    constexpr int together = 4, draws = together * double_lanes;  // vectors of draws in flight
    alignas(64) double signs[MAX_SIGNS * draws];
    auto sign = [&](std::int64_t v, int j) BTESTS_INLINE { return load(signs + v * draws + j * double_lanes); };
    for (std::int64_t w = first_word; w < last_word; ++w)
        for (int chunk = 0; chunk < 64; chunk += draws) {
            Doubles total[together] = {};
            for (std::int64_t f = 0; f < n_strata; ++f) {
                const double* c = moments + f * g * g;
                for (std::int64_t u = 0; u < g; ++u)
                    write_signs<together>(words[(f * g + u) * n_words + w] >> chunk, signs + u * draws);
                // Two rows of the matrix at a time, which share loads of signs, each added up from its diagonal on.
                for (std::int64_t u = 0; u + 1 < g; u += 2) {
                    Doubles field[together], next[together] = {};
                    for (int j = 0; j < together; ++j) field[j] = broadcast(c[u * g + u + 1]) * sign(u + 1, j);
                    for (std::int64_t v = u + 2; v < g; ++v) {
                        const Doubles h = in_register(broadcast(c[u * g + v])), k = in_register(broadcast(c[(u + 1) * g + v]));
                        for (int j = 0; j < together; ++j) {
                            const Doubles s = in_register(sign(v, j));
                            field[j] += h * s;
                            next[j] += k * s;
                        }
                    }
                    for (int j = 0; j < together; ++j) total[j] += field[j] * sign(u, j);
                    for (int j = 0; j < together; ++j) total[j] += next[j] * sign(u + 1, j);
                }
            }
            for (int j = 0; j < together; ++j) store(out + w * 64 + chunk + j * double_lanes, total[j] + total[j]);
        }
}

// In hsic.cpp.
int hsic(const Task& x, const Task& y);
std::int64_t hsic_sums(const Task& x, const Task& y);
// In fourier.cpp.
int fourier_sums(const FourierTask&);

extern const Loops loops;
const Loops loops = {summarize<double>, summarize<float>, hsic, hsic_sums, flip, label_pairs, fourier_sums};

}  // namespace BTESTS_ISA
}  // namespace btests
