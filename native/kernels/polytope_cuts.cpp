#include "polytope_cuts.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "shared_bits.hpp"

namespace reluscope {
namespace {

std::size_t word_of(std::int64_t slot) { return static_cast<std::size_t>(slot) / 64; }
Word bit_of(std::int64_t slot) { return Word{1} << (slot & 63); }

}  // namespace

void Hyperplane::set(const double* map, const double* map_errors, double level, const Resolution& resolution) {
    const std::size_t width = resolution.thinnest.size();
    coefficients.assign(map, map + width);
    coefficients.back() -= level;
    sizes.resize(width);
    errors = map_errors;
    floor = 0.0;
    for (std::size_t a = 0; a < width; ++a) {
        sizes[a] = std::abs(coefficients[a]);
        floor += resolution.thinnest[a] * sizes[a];
    }
}

void write_crossing(const MeasuredVertex& above, const MeasuredVertex& below, double rounding, std::size_t width,
                    double* point, double* error) {
    const double span = above.value - below.value;
    const Shares shares(above.value, below.value);
    // Errors of the ends along their edge do not move the crossing; those across it are as small as the better's.
    const double across = std::min(above.blur, below.blur);
    const double slide = (shares.between(above.doubt, below.doubt) + across) / span;
    for (std::size_t k = 0; k < width; ++k) {
        point[k] = shares.between(above.point[k], below.point[k]);
        error[k] = slide * std::abs(below.point[k] - above.point[k]);
        error[k] += rounding * std::abs(point[k]) + std::min(above.error[k], below.error[k]);
    }
}

void CutTables::resize_vertices(std::size_t number) {
    points.resize(number);
    errors.resize(number);
    tight.resize(number);
}

PolytopeCut::Sides PolytopeCut::measure(const Hyperplane& plane, const Polytope& whole) {
    whole_ = whole;
    const std::size_t number = whole.num_vertices, width = tables_.points.width();
    values_.resize(number);
    doubts_.resize(number);
    blurs_.resize(number);
    signs_.resize(number);
    Sides sides;
    for (std::size_t v = 0; v < number; ++v) {
        const double *point = tables_.points[whole.first_vertex + v], *error = tables_.errors[whole.first_vertex + v];
        const Magnitudes magnitudes(point, width, resolution_);
        double value = 0.0, terms = 0.0, doubt = 0.0, blur = 0.0;
        for (std::size_t a = 0; a < width; ++a) {
            value += plane.coefficients[a] * point[a];
            terms += plane.sizes[a] * magnitudes[a];
            doubt += plane.errors[a] * std::abs(point[a]);
            blur += error[a] * plane.sizes[a];
        }
        doubt += resolution_.rounding * terms;
        values_[v] = value;
        doubts_[v] = doubt;
        blurs_[v] = blur;
        doubt += blur;
        const double floor = plane.floor + resolution_.relative * terms, size = std::abs(value);
        if (size > std::max(doubt, floor)) {
            signs_[v] = value > 0 ? 1 : -1;
            ++(value > 0 ? sides.plus : sides.minus);
        } else {
            signs_[v] = 0;
            ++sides.zero;
            sides.undecided += size > std::min(doubt, floor) && size > 0;
            sides.is_rounded |= doubt > 0 || size > 0;
        }
    }
    return sides;
}

std::size_t PolytopeCut::find_edges() {
    const std::size_t number = whole_.num_vertices, num_words = tables_.num_words(), dim = tables_.points.width() - 1;
    const std::size_t least = std::max<std::size_t>(dim, 1) - 1;
    below_.clear();
    if (sets_below_.width() != num_words) sets_below_ = Table<Word>(0, num_words);
    sets_below_.resize(0);
    for (std::size_t v = 0; v < number; ++v) {
        if (signs_[v] != -1) continue;
        below_.push_back({v, num_slots(tight(v), num_words) <= dim});
        std::copy_n(tight(v), num_words, sets_below_.add());
    }
    sharing_.resize(below_.size());
    edges_.clear();
    for (std::size_t v = 0; v < number; ++v) {
        if (signs_[v] != 1) continue;
        const bool is_simple = num_slots(tight(v), num_words) <= dim;
        const std::size_t num_sharing = find_sharing(sets_below_, tight(v), least, sharing_.data());
        for (std::size_t i = 0; i < num_sharing; ++i) {
            const auto& other = below_[sharing_[i]];
            if (is_simple || other.is_simple || is_edge(v, other.vertex)) edges_.push_back({v, other.vertex});
        }
    }
    return edges_.size();
}

// Whether no third vertex lies on all facets that two vertices share.
bool PolytopeCut::is_edge(std::size_t one, std::size_t other) const {
    const Word *first = tight(one), *second = tight(other), *third = tight(0);
    const std::size_t num_words = tables_.num_words();
    for (std::size_t v = 0; v < whole_.num_vertices; ++v, third += num_words) {
        Word missing = 0;
        for (std::size_t k = 0; k < num_words; ++k) missing |= first[k] & second[k] & ~third[k];
        if (!missing && v != one && v != other) return false;
    }
    return true;
}

void PolytopeCut::mark_zero_facets(const Key& breakpoint) {
    const std::size_t num_words = tables_.num_words();
    found_.assign(num_words, 0);
    for (std::size_t v = 0; v < whole_.num_vertices; ++v)
        if (signs_[v] != 0)
            for (std::size_t k = 0; k < num_words; ++k) found_[k] |= tight(v)[k];
    for (std::size_t f = whole_.first_facet; f < whole_.first_facet + whole_.num_facets; ++f) {
        auto& facet = tables_.facets[f];
        if (found_[word_of(facet.slot)] & bit_of(facet.slot)) continue;
        facet.key ^= breakpoint;
        facet.at_zero = true;
    }
}

std::int64_t PolytopeCut::free_slot() {
    found_.assign(tables_.num_words(), 0);
    for (std::size_t f = whole_.first_facet; f < whole_.first_facet + whole_.num_facets; ++f)
        found_[word_of(tables_.facets[f].slot)] |= bit_of(tables_.facets[f].slot);
    for (std::size_t k = 0; k < found_.size(); ++k)
        if (~found_[k]) return static_cast<std::int64_t>(64 * k) + std::countr_one(found_[k]);
    tables_.tight = widened(tables_.tight, 2 * tables_.num_words());
    return static_cast<std::int64_t>(64 * found_.size());
}

Polytope PolytopeCut::add_half(int side, const Facet& cut) {
    const std::size_t first = tables_.points.size();
    tables_.resize_vertices(first + whole_.num_vertices + edges_.size());
    const std::size_t last = add_crossings(cut.slot, copy_side(side, cut.slot, first));
    tables_.resize_vertices(last);
    Polytope half{first, last - first, tables_.facets.size(), 0};
    add_facets(half, cut);
    return half;
}

// The vertices of one side of a cut, and those on it; returns the row after.
std::size_t PolytopeCut::copy_side(int side, std::int64_t slot, std::size_t target) {
    const std::size_t width = tables_.points.width(), num_words = tables_.num_words();
    for (std::size_t v = 0; v < whole_.num_vertices; ++v) {
        if (signs_[v] != side && signs_[v] != 0) continue;
        const std::size_t row = whole_.first_vertex + v;
        std::copy_n(tables_.points[row], width, tables_.points[target]);
        std::copy_n(tables_.errors[row], width, tables_.errors[target]);
        std::copy_n(tables_.tight[row], num_words, tables_.tight[target]);
        if (signs_[v] == 0) tables_.tight[target][word_of(slot)] |= bit_of(slot);
        ++target;
    }
    return target;
}

// The points where edges are crossed; returns the row after.
std::size_t PolytopeCut::add_crossings(std::int64_t slot, std::size_t target) {
    const std::size_t num_words = tables_.num_words();
    for (const auto [above, below] : edges_) {
        const std::size_t a = whole_.first_vertex + above, b = whole_.first_vertex + below;
        write_crossing({tables_.points[a], tables_.errors[a], values_[above], doubts_[above], blurs_[above]},
                       {tables_.points[b], tables_.errors[b], values_[below], doubts_[below], blurs_[below]},
                       resolution_.rounding, tables_.points.width(), tables_.points[target], tables_.errors[target]);
        Word* made = tables_.tight[target];
        for (std::size_t k = 0; k < num_words; ++k) made[k] = tables_.tight[a][k] & tables_.tight[b][k];
        made[word_of(slot)] |= bit_of(slot);
        ++target;
    }
    return target;
}

// The facets that a half keeps and the new one; the others are taken off its vertices.
void PolytopeCut::add_facets(Polytope& half, const Facet& cut) {
    const std::size_t num_words = tables_.num_words(), dim = tables_.points.width() - 1;
    const std::size_t last = half.first_vertex + half.num_vertices;
    // A facet with all its vertices on the cut is a face of the new facet, and none itself: here are the others.
    found_.assign(num_words, 0);
    for (std::size_t v = half.first_vertex; v < last; ++v) {
        const Word* words = tables_.tight[v];
        if (!(words[word_of(cut.slot)] & bit_of(cut.slot)))
            for (std::size_t k = 0; k < num_words; ++k) found_[k] |= words[k];
    }
    kept_.assign(num_words, 0);
    kept_[word_of(cut.slot)] |= bit_of(cut.slot);
    for (std::size_t f = whole_.first_facet; f < whole_.first_facet + whole_.num_facets; ++f) {
        const Facet facet = tables_.facets[f];
        const std::size_t word = word_of(facet.slot);
        const Word bit = bit_of(facet.slot);
        if (!(found_[word] & bit)) continue;
        std::size_t on_it = 0;
        for (std::size_t v = half.first_vertex; v < last && on_it < dim; ++v)
            on_it += (tables_.tight[v][word] & bit) != 0;
        if (on_it < dim) continue;
        tables_.facets.push_back(facet);
        kept_[word] |= bit;
    }
    tables_.facets.push_back(cut);
    half.num_facets = tables_.facets.size() - half.first_facet;
    for (std::size_t v = half.first_vertex; v < last; ++v)
        for (std::size_t k = 0; k < num_words; ++k) tables_.tight[v][k] &= kept_[k];
}

}  // namespace reluscope
