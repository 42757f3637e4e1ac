#include "splitting.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "doubtful_zeros.hpp"
#include "heights.hpp"

namespace reluscope {
namespace {

// Sides of a face; the same numbers as in reluscope.geometry.cutting.splitting.
constexpr std::uint8_t PLUS = 1, MINUS = 2, NOISE_PLUS = 4, NOISE_MINUS = 8;
constexpr std::size_t MAX_POOL = std::numeric_limits<std::int32_t>::max() - 4;

class Subdivider {
public:
    Subdivider(const ComplexView& cells, const Placed& placement, View<std::int64_t> seams, Rows<const double> heights,
               const CutErrors& errors)
        : errors_(errors),
          dim_(cells.size.size() - 1),
          num_cuts_(heights.width()),
          num_old_(cells.size[0]),
          faces_(dim_ + 1),
          pool_(cells.pool.begin(), cells.pool.end()),
          raw_(num_old_, 0.0),
          rise_(num_old_, 0.0) {
        for (std::size_t k = 0; k <= dim_; ++k) {
            const std::size_t number = cells.size[k];
            faces_[k].start.assign(cells.start[k], cells.start[k] + number);
            faces_[k].count.assign(cells.count[k], cells.count[k] + number);
            faces_[k].above.assign(number, 0);
            faces_[k].below.assign(number, 0);
            faces_[k].other.assign(number, NONE);
            faces_[k].stamp.assign(number, NONE);
        }
        out_.points = Table<double>(placement.points);
        out_.blur.assign(placement.blur.begin(), placement.blur.end());
        out_.skew.assign(placement.skew.begin(), placement.skew.end());
        out_.factor.assign(placement.factor.begin(), placement.factor.end());
        out_.drift.assign(placement.drift.begin(), placement.drift.end());
        out_.seams.assign(seams.begin(), seams.end());
        out_.parent.resize(num_cells());
        for (std::size_t cell = 0; cell < num_cells(); ++cell) out_.parent[cell] = static_cast<std::int64_t>(cell);
        out_.sides = Table<std::uint8_t>(num_cells(), num_cuts_, 0);
        out_.heights = Table<double>(heights);
        out_.snapped.assign(num_cuts_, 0.0);
        // Most cuts leave no more: what is written once need not be moved. Room alone takes no memory.
        out_.heights.reserve(3 * num_old_);
    }

    Subdivided run(std::size_t limit) {
        for (std::size_t j = 0; j < num_cuts_; ++j) {
            if (j % GROUP == 0) open_group(j);
            cut(j);
            out_.num_done = static_cast<std::int64_t>(j) + 1;
            const bool is_full = num_cells() > limit;
            if (is_full || j + 1 == group_end_) fill_sides(j + 1);
            if (is_full) break;
        }
        gather();
        return std::move(out_);
    }

private:
    std::size_t num_cells() const { return faces_[dim_].size(); }
    // Where the next list begins.
    std::int32_t pool_end() const {
        if (pool_.size() > MAX_POOL) throw std::overflow_error("a complex must not have more faces than 32 bits can number");
        return static_cast<std::int32_t>(pool_.size());
    }
    Word bit(std::size_t j) const { return Word{1} << (j - group_begin_); }

    void open_group(std::size_t j) {
        group_begin_ = j;
        group_end_ = std::min(j + GROUP, num_cuts_);
        for (std::size_t b = 0; b < GROUP; ++b) {
            zeros_[b].clear();
            flat_[b].clear();
            for (auto& faces : faces_) faces.crossed[b].clear();
        }
        sign_vertices(0, ~Word{0});
        for (std::size_t k = 1; k <= dim_; ++k) sign_faces(k, 0, ~Word{0});
        for (std::size_t cell = 0; cell < num_cells(); ++cell) enlist_flat(cell, 0);
    }

    // The cuts of the group.
    Word group() const { return ~Word{0} >> (GROUP - (group_end_ - group_begin_)); }

    // Note for which cuts a cell has neither sign, those left out that it was noted for.
    void enlist_flat(std::size_t cell, Word noted) {
        const auto& cells = faces_[dim_];
        enlist(flat_, ~(cells.above[cell] | cells.below[cell] | noted) & group(), cell);
    }

    // Which cuts of the group some vertices lie strictly above, and which they lie below; of these bits, the last ones.
    void sign_vertices(std::size_t first, Word kept) {
        const std::size_t begin = group_begin_ + static_cast<std::size_t>(std::countr_zero(kept)), end = group_end_;
        for (std::size_t v = first; v < faces_[0].size(); ++v) {
            Word plus = 0, minus = 0;
            const double *row = out_.heights[v], blur = out_.blur[v], factor = out_.factor[v], drift = out_.drift[v];
            for (std::size_t j = begin; j < end; ++j) {
                const double error = errors_.rounding[j] * factor + errors_.slopes[j] * (blur + drift);
                const double known = std::max(error, errors_.floor[j]);
                plus |= Word{row[j] > known} << (j - group_begin_);
                minus |= Word{row[j] < -known} << (j - group_begin_);
            }
            faces_[0].above[v] = plus;
            faces_[0].below[v] = minus;
            enlist(zeros_, ~(plus | minus) & kept & group(), v);
        }
    }

    // Which cuts some point of a face lies above, and which one lies below, from its boundary.
    std::pair<Word, Word> signs(std::size_t k, std::size_t face) const {
        Word plus = 0, minus = 0;
        const auto &faces = faces_[k], &lower = faces_[k - 1];
        for (std::int32_t i = faces.start[face]; i < faces.start[face] + faces.count[face]; ++i) {
            plus |= lower.above[pool_[i]];
            minus |= lower.below[pool_[i]];
        }
        return {plus, minus};
    }

    void sign_faces(std::size_t k, std::size_t first, Word kept) {
        for (std::size_t f = first; f < faces_[k].size(); ++f) {
            const auto [plus, minus] = signs(k, f);
            faces_[k].above[f] = plus & kept;
            faces_[k].below[f] = minus & kept;
            enlist(faces_[k].crossed, plus & minus & kept, f);
        }
    }

    // The signs of faces that were cut, as they are now, and of their other halves.
    void sign_halves(std::size_t k, std::size_t j, Word bit) {
        const Word before = bit - 1, kept = ~(bit | before);
        auto& faces = faces_[k];
        for (const auto face : crossed(k, j)) {
            const auto half = faces.other[face];
            if (half == NONE) continue;
            // What earlier cuts left on either side of a cell stays as it is.
            const Word plus = faces.above[face] & before, minus = faces.below[face] & before;
            const Word listed = faces.above[face] & faces.below[face], flat = ~(faces.above[face] | faces.below[face]);
            const auto one = signs(k, face), two = signs(k, half);
            faces.above[face] = (one.first & kept) | plus | bit;
            faces.below[face] = (one.second & kept) | minus;
            faces.above[half] = (two.first & kept) | plus;
            faces.below[half] = (two.second & kept) | minus | bit;
            enlist(faces.crossed, one.first & one.second & kept & ~listed, face);
            enlist(faces.crossed, two.first & two.second & kept, half);
            if (k == dim_) {
                enlist_flat(face, flat | ~kept);
                enlist_flat(half, ~kept);
            }
        }
    }

    void cut(std::size_t j) {
        const Word bit = this->bit(j), later = ~(bit | (bit - 1));
        set_zeros(j);
        for (std::size_t k = 1; k <= dim_; ++k) {
            auto& faces = faces_[k];
            keep_crossed(k, j, bit);
            const std::size_t first = faces_[k - 1].size();
            if (k == 1) {
                cut_edges(j, bit);
                sign_vertices(first, later);
            } else {
                for (const auto face : crossed(k, j)) cut_face(k, face, bit);
                sign_faces(k - 1, first, later);
            }
            if (k == 2) skew_edges(j, first);
            sign_halves(k, j, bit);
            if (k == dim_) out_.seams.resize(faces_[k - 1].size(), NONE);
            if (k + 1 == dim_) {
                out_.seams.resize(faces.size(), NONE);
                for (const auto face : crossed(k, j))
                    if (faces.other[face] != NONE) out_.seams[faces.other[face]] = out_.seams[face];
            }
        }
        inherit(j);
        const auto& cells = faces_[dim_];
        for (const auto cell : flat_[j - group_begin_])
            if (!((cells.above[cell] | cells.below[cell]) & bit)) out_.sides[cell][j] = noise(cell);
        for (std::size_t k = 1; k <= dim_; ++k)
            for (const auto face : crossed(k, j)) faces_[k].other[face] = NONE;
    }

    // The faces that a cut of the group splits, once it is its turn.
    Vector<std::int32_t>& crossed(std::size_t k, std::size_t j) { return faces_[k].crossed[j - group_begin_]; }

    // Leave in the list of a cut the faces that still have both signs, each once and in increasing order.
    void keep_crossed(std::size_t k, std::size_t j, Word bit) {
        const auto& faces = faces_[k];
        auto& list = crossed(k, j);
        if (!std::is_sorted(list.begin(), list.end())) std::sort(list.begin(), list.end());
        list.erase(std::unique(list.begin(), list.end()), list.end());
        std::erase_if(list, [&](std::int32_t face) { return !(faces.above[face] & faces.below[face] & bit); });
    }

    // Vertices where the cut function is zero, by decision: everything else follows from their signs.
    void set_zeros(std::size_t j) {
        const auto& zeros = zeros_[j - group_begin_];
        for (const auto v : zeros) {
            raw_[v] = out_.heights[v][j];
            rise_[v] = out_.heights[v][j] = 0.0;
            out_.snapped[j] = std::max(out_.snapped[j], std::abs(raw_[v]));
        }
        if (!zeros.empty() && zeros.size() < faces_[0].size())
            out_.num_undecided += num_doubtful(faces_, pool_, {out_.points, out_.heights, raw_, out_.blur, out_.factor, out_.drift},
                                               {j, bit(j), errors_.rounding[j], errors_.slopes[j], errors_.floor[j]});
    }

    double distance(std::int32_t a, std::int32_t b) const {
        return reluscope::distance(out_.points[a], out_.points[b], out_.points.width());
    }

    // How far a cut function may be off on the way from a vertex to another.
    double error_along(std::size_t j, std::int32_t a, std::int32_t b) const {
        return errors_.rounding[j] * std::max(out_.factor[a], out_.factor[b]) +
               errors_.slopes[j] * std::max(out_.drift[a], out_.drift[b]);
    }

    // Cut edges at new vertices, and write the lists of their halves.
    void cut_edges(std::size_t j, Word bit) {
        auto& edges = faces_[1];
        const double slope = errors_.slopes[j];
        for (const auto edge : crossed(1, j)) {
            auto a = pool_[edges.start[edge]], b = pool_[edges.start[edge] + 1];
            if (!(faces_[0].above[a] & bit)) std::swap(a, b);
            // Always from the lower id, so that the result does not depend on the order within the edge.
            const auto low = std::min(a, b), high = std::max(a, b);
            const auto made = faces_[0].add(0, 0);
            double* height = out_.heights.add();
            const double *one = out_.heights[low], *two = out_.heights[high];
            const double t = one[j] / (one[j] - two[j]);
            mix(one, two, t, num_cuts_, height);
            height[j] = 0.0;
            double* point = out_.points.add();
            const double *from = out_.points[low], *to = out_.points[high];
            double length = 0.0;
            for (std::size_t i = 0; i < out_.points.width(); ++i) {
                length += (from[i] - to[i]) * (from[i] - to[i]);
                point[i] = (1.0 - t) * from[i] + t * to[i];
            }
            length = std::sqrt(length);
            raw_.push_back(0.0);
            rise_.push_back(length > 0 ? std::abs(one[j] - two[j]) / length : INFINITE);
            const double known = error_along(j, low, high);
            out_.blur.push_back(std::min((known + slope * out_.skew[edge]) / rise_.back(), length));
            out_.factor.push_back(std::max(out_.factor[low], out_.factor[high]));
            out_.drift.push_back(std::max(out_.drift[low], out_.drift[high]));
            out_.tail.push_back(low);
            out_.head.push_back(high);
            out_.share.push_back(t);
            const auto end = pool_end();
            pool_.insert(pool_.end(), {a, made, made, b});
            edges.start[edge] = end;
            edges.other[edge] = edges.add(end + 2, 2);
            out_.skew.push_back(out_.skew[edge]);
        }
    }

    // Cut a face of dimension k >= 2, and write the lists of its halves and of the new face between them. Where
    // rounding made signs inconsistent it stays whole.
    void cut_face(std::size_t k, std::int32_t face, Word bit) {
        auto &faces = faces_[k], &lower = faces_[k - 1], &ridges = faces_[k - 2];
        const auto first = faces.start[face], last = first + faces.count[face];
        const auto is_above = [&](std::int32_t child) { return (lower.above[child] & ~lower.below[child] & bit) != 0; };
        ++tag_;
        // The new face between the halves: every ridge that both halves touch.
        for (auto i = first; i < last; ++i) {
            const auto child = pool_[i];
            if (is_above(child) || lower.other[child] != NONE)
                for (auto g = lower.start[child]; g < lower.start[child] + lower.count[child]; ++g)
                    ridges.stamp[pool_[g]] = tag_;
        }
        const auto end = pool_end();
        for (auto i = first; i < last; ++i) {
            auto child = pool_[i];
            if (lower.other[child] != NONE)
                child = lower.other[child];
            else if (is_above(child))
                continue;
            for (auto g = lower.start[child]; g < lower.start[child] + lower.count[child]; ++g) {
                const auto ridge = pool_[g];
                if (ridges.stamp[ridge] == tag_) {
                    ridges.stamp[ridge] = NONE;
                    pool_.push_back(ridge);
                }
            }
        }
        const std::size_t number = pool_.size() - end;
        if (number < k || (k == 2 && number > 2)) {
            ++out_.num_undecided;
            pool_.resize(end);
            for (auto i = first; i < last; ++i) {
                const auto child = pool_[i];
                pool_.push_back(child);
                if (lower.other[child] != NONE) pool_.push_back(lower.other[child]);
            }
            faces.start[face] = end;
            faces.count[face] = pool_end() - end;
            return;
        }
        const auto separator = lower.add(end, static_cast<std::int32_t>(number));
        const auto begin = pool_end();
        for (auto i = first; i < last; ++i) {
            const auto child = pool_[i];
            if (lower.other[child] != NONE || is_above(child)) pool_.push_back(child);
        }
        pool_.push_back(separator);
        const auto middle = static_cast<std::int32_t>(pool_.size());
        for (auto i = first; i < last; ++i) {
            const auto child = pool_[i];
            if (lower.other[child] != NONE)
                pool_.push_back(lower.other[child]);
            else if (!is_above(child))
                pool_.push_back(child);
        }
        pool_.push_back(separator);
        faces.start[face] = begin;
        faces.count[face] = middle - begin;
        faces.other[face] = faces.add(middle, pool_end() - middle);
    }

    // How far the new edges across the polygons that were cut may be from the true zero set.
    void skew_edges(std::size_t j, std::size_t first) {
        const auto& polygons = faces_[2];
        auto edge = first;
        out_.skew.resize(faces_[1].size(), 0.0);
        for (const auto polygon : crossed(2, j)) {
            if (polygons.other[polygon] == NONE) continue;
            const auto a = pool_[faces_[1].start[edge]], b = pool_[faces_[1].start[edge] + 1];
            double steep = std::max(rise_[a], rise_[b]);
            if (steep == 0.0) {
                steep = steepest_side(polygon, j);
                steep = std::max(steep, steepest_side(polygons.other[polygon], j));
            }
            out_.skew[edge] = (error_along(j, a, b) + std::max(std::abs(raw_[a]), std::abs(raw_[b]))) / steep;
            ++edge;
        }
    }

    // The largest slope of a cut function along the sides of a polygon, halves of cut sides included.
    double steepest_side(std::int32_t face, std::size_t j) const {
        const auto &polygons = faces_[2], &edges = faces_[1];
        double steepest = 0.0;
        for (auto i = polygons.start[face]; i < polygons.start[face] + polygons.count[face]; ++i)
            for (const auto edge : {pool_[i], edges.other[pool_[i]]}) {
                if (edge == NONE) continue;
                const auto a = pool_[edges.start[edge]], b = pool_[edges.start[edge] + 1];
                const double length = distance(a, b);
                if (length > 0)
                    steepest = std::max(steepest, std::abs(out_.heights[a][j] - out_.heights[b][j]) / length);
            }
        return steepest;
    }

    // What halves of cells have from the cell that was cut: its parent, and the sides of earlier cuts.
    void inherit(std::size_t j) {
        out_.parent.resize(num_cells(), NONE);
        const std::size_t first = out_.sides.size();
        out_.sides.resize(num_cells());
        if (first < num_cells()) std::fill(out_.sides[first], out_.sides[first] + (num_cells() - first) * num_cuts_, 0);
        for (const auto face : crossed(dim_, j)) {
            const auto half = faces_[dim_].other[face];
            if (half == NONE) continue;
            out_.parent[half] = out_.parent[face];
            std::copy_n(out_.sides[face], j, out_.sides[half]);
        }
    }

    // Which signs were decided to be zero at the vertices of a flat cell.
    std::uint8_t noise(std::size_t cell) const {
        Vector<std::int32_t> faces(1, static_cast<std::int32_t>(cell)), below;
        for (std::size_t level = dim_; level > 0; --level) {
            below.clear();
            for (const auto face : faces) {
                const auto list = pool_.begin() + faces_[level].start[face];
                below.insert(below.end(), list, list + faces_[level].count[face]);
            }
            std::swap(faces, below);
        }
        std::uint8_t found = 0;
        for (const auto v : faces)
            if (raw_[v] != 0) found |= raw_[v] > 0 ? NOISE_PLUS : NOISE_MINUS;
        return found;
    }

    // Write the strict signs of cells for the cuts of the group; what is there of flat cells stays.
    void fill_sides(std::size_t end) {
        const auto& cells = faces_[dim_];
        const std::size_t number = end - group_begin_;
        for (std::size_t cell = 0; cell < num_cells(); ++cell) {
            const Word plus = cells.above[cell], minus = cells.below[cell];
            std::uint8_t* sides = out_.sides[cell] + group_begin_;
            for (std::size_t b = 0; b < number; ++b) {
                const auto found = static_cast<std::uint8_t>((plus >> b & 1) * PLUS | (minus >> b & 1) * MINUS);
                sides[b] = found ? found : sides[b];
            }
        }
    }

    void gather() {
        Vector<std::int64_t> number;
        for (const auto& faces : faces_) number.push_back(static_cast<std::int64_t>(faces.size()));
        out_.complex = ComplexArrays(std::move(number));
        auto& made = out_.complex;
        for (std::size_t k = 0; k <= dim_; ++k) {
            std::copy(faces_[k].start.begin(), faces_[k].start.end(), made.start[k]);
            std::copy(faces_[k].count.begin(), faces_[k].count.end(), made.count[k]);
        }
        made.pool = std::move(pool_);
    }

    CutErrors errors_;
    std::size_t dim_, num_cuts_, num_old_;
    std::vector<SignedFaces> faces_;
    // Boundary lists, back to back, with gaps.
    Vector<std::int32_t> pool_;
    // For the cut at hand, where it is zero: the value before, and the slope along the edge that the vertex is on.
    Vector<double> raw_, rise_;
    // Of each cut of the group the vertices where it is zero, and the cells that were seen without a strict sign.
    std::array<Vector<std::int32_t>, GROUP> zeros_, flat_;
    std::int64_t tag_ = 0;
    std::size_t group_begin_ = 0, group_end_ = 0;
    Subdivided out_;
};

}  // namespace

Subdivided subdivide(const ComplexView& cells, const Placed& placement, View<std::int64_t> seams,
                     Rows<const double> heights, const CutErrors& errors, std::size_t limit) {
    return Subdivider(cells, placement, seams, heights, errors).run(limit);
}

}  // namespace reluscope
