// Numbers that lie one after another in memory, one stretch for each lane, become vectors of lanes.
#pragma once
#include <type_traits>

#include "vectors.hpp"

namespace btests {
namespace BTESTS_ISA {

template <std::size_t from, std::size_t... i> inline Doubles every_fourth(Doubles a, Doubles b, std::index_sequence<i...>) {
    constexpr std::size_t half = double_lanes / 2;  // column `from` of half of the lanes, and then the next column of them
    return shuffle<(i % half * 4 + i / half + from)...>(a, b);
}
template <std::size_t from, std::size_t... i> inline Doubles halves(Doubles a, Doubles b, std::index_sequence<i...>) {
    constexpr std::size_t half = double_lanes / 2;
    return shuffle<(i % half + i / half * double_lanes + from * half)...>(a, b);
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

// Numbers at .. at + 3 of all lanes.
BTESTS_INLINE inline void four_columns(const double* const* from, std::int64_t at, Doubles* out) {
    constexpr auto all = std::make_index_sequence<double_lanes>();
    const Doubles a = four_of(from, at, 0), b = four_of(from, at, 1), c = four_of(from, at, 2), d = four_of(from, at, 3);
    const Doubles ab = every_fourth<0>(a, b, all), cd = every_fourth<0>(c, d, all);
    const Doubles after = every_fourth<2>(a, b, all), last = every_fourth<2>(c, d, all);
    out[0] = halves<0>(ab, cd, all), out[1] = halves<1>(ab, cd, all);
    out[2] = halves<0>(after, last, all), out[3] = halves<1>(after, last, all);
}

// out[j * step ..] = numbers j of all lanes, for j < n.
template <class Input, class T>
inline void transpose(const Input* const* from, std::int64_t n, T* out, std::int64_t step = Types<T>::lanes) {
    constexpr int lanes = Types<T>::lanes;
    std::int64_t j = 0;
    if constexpr (std::is_same<Input, double>::value && std::is_same<T, double>::value) {
        for (; j + 4 <= n; j += 4, out += 4 * step) {
            Doubles four[4];
            four_columns(from, j, four);
            for (int i = 0; i < 4; ++i) store(out + i * step, four[i]);
        }
    }
    for (; j < n; ++j, out += step)
        for (int lane = 0; lane < lanes; ++lane) out[lane] = T(from[lane][j]);
}

}  // namespace BTESTS_ISA
}  // namespace btests
