// Numbers that lie one after another in memory, one stretch for each lane, become vectors of lanes.
#pragma once
#include <type_traits>
#include <utility>

#include "vectors.hpp"

namespace btests {
namespace BTESTS_ISA {

// Elements chosen from a and b, which count on where a ends.
template <std::size_t... i> inline Doubles pick(Doubles a, Doubles b) {
#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define BTESTS_SHUFFLE
#endif
#endif
#if defined(BTESTS_SHUFFLE)
    return __builtin_shufflevector(a, b, i...);
#else
    return __builtin_shuffle(a, b, Ints<double>{static_cast<std::int64_t>(i)...});
#endif
}
template <std::size_t from, std::size_t... i> inline Doubles every_fourth(Doubles a, Doubles b, std::index_sequence<i...>) {
    constexpr std::size_t half = double_lanes / 2;  // column `from` of half of the lanes, and then the next column of them
    return pick<(i % half * 4 + i / half + from)...>(a, b);
}
template <std::size_t from, std::size_t... i> inline Doubles halves(Doubles a, Doubles b, std::index_sequence<i...>) {
    constexpr std::size_t half = double_lanes / 2;
    return pick<(i % half + i / half * double_lanes + from * half)...>(a, b);
}

// Four numbers of some lanes, as many as fill vector i of four.
inline Doubles four_of(const double* const* from, std::int64_t at, int i) {
#if BTESTS_BYTES == 64 && defined(__AVX512F__)
    // With a mask of ones: without, some compilers warn of what the intrinsic leaves undefined.
    return (Doubles)_mm512_maskz_insertf64x4(0xFF, _mm512_castpd256_pd512(_mm256_loadu_pd(from[2 * i] + at)),
                                             _mm256_loadu_pd(from[2 * i + 1] + at), 1);
#elif BTESTS_BYTES == 32
    return load(from[i] + at);
#else
    return load(from[i / 2] + at + i % 2 * 2);
#endif
}

// out[j * step ..] = numbers j of all lanes, for j < n.
template <class Input, class T>
inline void transpose(const Input* const* from, std::int64_t n, T* out, std::int64_t step = Types<T>::lanes) {
    constexpr int lanes = Types<T>::lanes;
    std::int64_t j = 0;
    if constexpr (std::is_same<Input, double>::value && std::is_same<T, double>::value) {
        constexpr auto all = std::make_index_sequence<lanes>();
        for (; j + 4 <= n; j += 4, out += 4 * step) {
            const Doubles a = four_of(from, j, 0), b = four_of(from, j, 1), c = four_of(from, j, 2), d = four_of(from, j, 3);
            const Doubles ab = every_fourth<0>(a, b, all), cd = every_fourth<0>(c, d, all);
            store(out, halves<0>(ab, cd, all)), store(out + step, halves<1>(ab, cd, all));
            const Doubles after = every_fourth<2>(a, b, all), last = every_fourth<2>(c, d, all);
            store(out + 2 * step, halves<0>(after, last, all)), store(out + 3 * step, halves<1>(after, last, all));
        }
    }
    for (; j < n; ++j, out += step)
        for (int lane = 0; lane < lanes; ++lane) out[lane] = T(from[lane][j]);
}

}  // namespace BTESTS_ISA
}  // namespace btests
