// The samples of a task: where blocks begin, and rows of the user's arrays, permuted, centred and scaled; scratch memory.
#pragma once
#include <algorithm>
#include <cstdlib>
#include <new>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "task.hpp"
#include "vectors.hpp"

namespace btests {
namespace BTESTS_ISA {

// Scratch memory of one call, aligned for the widest vectors.
template <class T> class Scratch {
public:
    explicit Scratch(std::size_t n, bool zero = true) {
        const std::size_t bytes = n * sizeof(T), page = bytes < huge / 2 ? 64 : huge;
        data_ = static_cast<T*>(std::aligned_alloc(page, (bytes + 64 + page - 1) / page * page));
        if (!data_) throw std::bad_alloc();
#if defined(__linux__)
        if (page == huge) madvise(data_, bytes, MADV_HUGEPAGE);  // panels are read in strides that small pages would slow down
#endif
        if (zero) std::memset(static_cast<void*>(data_), 0, n * sizeof(T));
    }
    ~Scratch() { std::free(data_); }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    T* get() const { return data_; }
    T& operator[](std::size_t i) const { return data_[i]; }
private:
    static constexpr std::size_t huge = std::size_t(1) << 21;
    T* data_;
};

// One sample of a task. The first `longer` blocks have one row more; a division for each small block would cost more
// than the block.
struct Sample {
    const void* rows;
    const std::int64_t* order;
    std::int64_t n, whole, longer;
    Sample(const void* rows, const std::int64_t* order, std::int64_t n, std::int64_t n_blocks)
        : rows(rows), order(order), n(n), whole(n / n_blocks), longer(n % n_blocks) {}
    std::int64_t size(std::int64_t block) const { return whole + (block < longer); }
    std::int64_t start(std::int64_t block) const { return block * whole + std::min(block, longer); }
};
inline Sample sample_x(const Task& t) { return {t.x, t.order_x, t.n_x, t.n_blocks}; }
inline Sample sample_y(const Task& t) { return {t.y, t.order_y, t.n_y, t.n_blocks}; }

// Call put(k, value) with each coordinate k of the row at `position`, centred and scaled.
template <class T, class Put> inline void each_coordinate(const Task& t, const Sample& s, std::int64_t position, Put put) {
    const std::int64_t row = s.order ? s.order[position] : position;
    if (t.rows_are_float32) {
        const float* p = static_cast<const float*>(s.rows) + row * t.d;
        for (std::int64_t k = 0; k < t.d; ++k) put(k, T((double(p[k]) - t.origin[k]) * t.scale));
    } else {
        const double* p = static_cast<const double*>(s.rows) + row * t.d;
        for (std::int64_t k = 0; k < t.d; ++k) put(k, T((p[k] - t.origin[k]) * t.scale));
    }
}

inline void prefetch_row(const Task& t, const Sample& s, std::int64_t position) {
    if (!s.order || position >= s.n) return;
    const std::size_t bytes = t.rows_are_float32 ? 4 : 8;
    __builtin_prefetch(static_cast<const char*>(s.rows) + s.order[position] * t.d * bytes);
}

inline std::int64_t group_size(std::int64_t rows, std::int64_t n_groups, std::int64_t g) {
    return rows / n_groups + (g < rows % n_groups);
}

}  // namespace BTESTS_ISA
}  // namespace btests
