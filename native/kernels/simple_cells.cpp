#include "simple_cells.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "wide.hpp"

namespace reluscope {
namespace {

constexpr std::size_t BITS = 64;
// Up to so many vertices are compared pair by pair.
constexpr std::size_t FEW = 48;
// In place of a vertex: both ends of the edge have been found.
constexpr std::uint32_t TAKEN = 0xFFFFFFFF;

constexpr Word bit(std::size_t place) { return Word{1} << place; }

constexpr Word first_bits(std::size_t number) { return number == BITS ? ~Word{0} : bit(number) - 1; }

// Without a call of a library, which is what processors of all kinds have in common.
constexpr std::size_t num_bits(Word word) {
    std::size_t number = 0;
    for (; word != 0; word &= word - 1) ++number;
    return number;
}

template <class Visit> void each_bit(Word word, Visit visit) {
    for (; word != 0; word &= word - 1) visit(static_cast<std::size_t>(std::countr_zero(word)));
}

// Functions, and bounds on their errors, as rows of coefficients, a row for each coordinate.
struct OpenFunctions {
    const double *maps, *errors;
    std::size_t number;
};

// Adds up, for functions side by side, values, the magnitudes of their terms, and what errors of the functions and of
// the point may do to them.
WIDE void add_up(const double* point, const Magnitudes& magnitudes, const double* blur, std::size_t width,
                 const OpenFunctions& functions, double* __restrict values, double* __restrict terms,
                 double* __restrict doubts, double* __restrict blurs) {
    for (std::size_t a = 0; a < width; ++a) {
        const double at = point[a], distance = std::fabs(at), magnitude = magnitudes[a], error = blur[a];
        const double *maps = functions.maps + a * functions.number, *errors = functions.errors + a * functions.number;
        for (std::size_t i = 0; i < functions.number; ++i) {
            const double size = std::fabs(maps[i]);
            values[i] += maps[i] * at;
            terms[i] += size * magnitude;
            doubts[i] += errors[i] * distance;
            blurs[i] += size * error;
        }
    }
}

// The smallest and the largest values of functions side by side are made those at one point more.
WIDE void extend(const double* point, std::size_t width, const Table<double>& maps, std::size_t number,
                 double* __restrict values, double* __restrict low, double* __restrict high) {
    std::fill_n(values, number, 0.0);
    for (std::size_t a = 0; a < width; ++a) {
        const double at = point[a], *row = maps[a];
        for (std::size_t i = 0; i < number; ++i) values[i] += row[i] * at;
    }
    for (std::size_t i = 0; i < number; ++i) {
        low[i] = values[i] < low[i] ? values[i] : low[i];
        high[i] = high[i] < values[i] ? values[i] : high[i];
    }
}

// Adds to bounds on what is in doubt of functions side by side what comes from one coordinate.
WIDE void add_doubt(double reach, double blur, const double* map, const double* error, std::size_t number,
                    double* __restrict bounds) {
    for (std::size_t i = 0; i < number; ++i) bounds[i] += error[i] * reach + std::fabs(map[i]) * blur;
}

}  // namespace

SimpleCells::SimpleCells(const CuttingUnits& units, std::size_t width)
    : units_(units),
      dim_(width - 1),
      num_levels_(units.num_levels),
      num_columns_(num_levels_ == 0 ? 0 : std::min(units.number, BITS / num_levels_) * num_levels_),
      steps_(num_columns_),
      maps_(dim_ + 1, num_columns_),
      map_errors_(dim_ + 1, num_columns_),
      floors_(num_columns_),
      columns_(BITS),
      open_maps_((dim_ + 1) * num_columns_),
      open_errors_((dim_ + 1) * num_columns_),
      sums_(4 * num_columns_),
      reach_(width),
      sizes_(width),
      blur_(width),
      points_(0, dim_ + 1),
      errors_(0, dim_ + 1),
      values_(0, num_columns_),
      doubts_(0, num_columns_),
      blurs_(0, num_columns_) {}

bool SimpleCells::cut(const PolytopesView& cells, std::size_t cell, CutCells& found) {
    if (num_columns_ == 0 || !start(cells, cell)) return false;
    first_part_ = found.parents.size();
    first_vertex_ = found.num_vertices;
    first_corner_ = found.corners.size();
    const Known known = screened();
    bool is_done = measure(0, known.open);
    if (is_done) {
        Part part = whole();
        is_done = (part.open(known.open) == 0 || find_edges(part)) && split(part, known, found);
    }
    shrink(0, 0, 0);
    if (!is_done) found.keep(first_part_, first_vertex_, first_corner_);
    return is_done;
}

bool SimpleCells::start(const PolytopesView& cells, std::size_t cell) {
    const auto first = static_cast<std::size_t>(cells.vertex_offsets[cell]);
    const auto last = static_cast<std::size_t>(cells.vertex_offsets[cell + 1]);
    for (std::size_t v = first; v < last; ++v) {
        const Word* tight = cells.tight[v];
        if (num_bits(tight[0]) != dim_) return false;
        if (std::any_of(tight + 1, tight + cells.tight.width(), [](Word word) { return word != 0; })) return false;
    }
    const auto first_facet = cells.facet_offsets[cell], last_facet = cells.facet_offsets[cell + 1];
    for (auto f = first_facet; f < last_facet; ++f)
        if (cells.slots[f] >= static_cast<std::int64_t>(BITS)) return false;
    cell_ = cell;
    first_unit_ = static_cast<std::size_t>(units_.first[cell]);
    num_units_ = std::min(units_.end(cell) - first_unit_, BITS / num_levels_);
    flat_ = Key(cells.flat[cell]);
    for (auto f = first_facet; f < last_facet; ++f)
        facets_[cells.slots[f]] = {cells.kinds[f], NONE, Key(cells.keys[f])};
    shrink(0, 0, 0);
    for (std::size_t v = first; v < last; ++v) {
        std::copy_n(cells.vertices[v], dim_ + 1, points_.add());
        std::copy_n(cells.errors[v], dim_ + 1, errors_.add());
        tight_.push_back(cells.tight[v][0]);
        ids_.push_back(static_cast<std::uint32_t>(v - first));
    }
    corners_.assign(last - first, NONE);
    set_functions();
    return true;
}

void SimpleCells::set_functions() {
    Hyperplane plane;
    lowest_ = {};
    for (std::size_t column = 0; column < num_units_ * num_levels_; ++column) {
        const std::size_t unit = first_unit_ + column / num_levels_, row = units_.row(cell_, unit);
        plane.set(units_.maps[row], units_.errors[row], units_.breakpoints[column % num_levels_][unit],
                  units_.resolution);
        floors_[column] = plane.floor;
        const std::size_t piece = unit * (num_levels_ + 1) + column % num_levels_;
        steps_[column] = Key(units_.piece_words[piece]) ^ Key(units_.piece_words[piece + 1]);
        if (column % num_levels_ == 0) lowest_ ^= Key(units_.piece_words[piece]);
        for (std::size_t a = 0; a <= dim_; ++a) {
            maps_[a][column] = plane.coefficients[a];
            map_errors_[a][column] = plane.errors[a];
        }
    }
}

// Leaves open the functions that are not of one sign at all vertices by a margin in which all doubts have room.
SimpleCells::Known SimpleCells::screened() {
    const std::size_t number = num_units_ * num_levels_;
    double *low = sums_.data(), *high = low + number, *values = high + number, *bounds = values + number;
    std::fill_n(low, number, INFINITE);
    std::fill_n(high, number, -INFINITE);
    std::copy_n(floors_.data(), number, bounds);
    std::fill(reach_.begin(), reach_.end(), 0.0);
    std::fill(sizes_.begin(), sizes_.end(), 0.0);
    std::fill(blur_.begin(), blur_.end(), 0.0);
    for (std::size_t v = 0; v < points_.size(); ++v) {
        extend(points_[v], dim_ + 1, maps_, number, values, low, high);
        const Magnitudes magnitudes(points_[v], dim_ + 1, units_.resolution);
        for (std::size_t a = 0; a <= dim_; ++a) {
            sizes_[a] = std::max(sizes_[a], magnitudes[a]);
            reach_[a] = std::max(reach_[a], std::fabs(points_[v][a]));
            blur_[a] = std::max(blur_[a], errors_[v][a]);
        }
    }
    const double share = units_.resolution.rounding + units_.resolution.relative;
    for (std::size_t a = 0; a <= dim_; ++a)
        add_doubt(reach_[a], blur_[a] + share * sizes_[a], maps_[a], map_errors_[a], number, bounds);
    Word open = 0, above = 0;
    for (std::size_t i = 0; i < number; ++i) {
        // Twice the bounds: they are sums in floats themselves.
        const bool is_above = low[i] > 2 * bounds[i], is_below = high[i] < -2 * bounds[i];
        above |= Word{is_above} << i;
        open |= Word{!is_above && !is_below} << i;
    }
    return with({open, 0, lowest_}, above);
}

SimpleCells::Known SimpleCells::with(Known known, Word above) const {
    known.above |= above;
    each_bit(above, [&](std::size_t column) { known.hash ^= steps_[column]; });
    return known;
}

// All of a cell, without its edges.
SimpleCells::Part SimpleCells::whole() const {
    Part part{0, ids_.size(), 0, 0, 0, ~Word{0}, 0};
    for (const std::uint32_t id : ids_) {
        part.some |= above_[id];
        part.all &= above_[id];
        part.taken |= tight_[id];
    }
    return part;
}

bool SimpleCells::split(Part part, Known known, CutCells& found) {
    known = with(known, known.open & part.all);
    Word open = part.open(known.open);
    known.open = open;
    const auto column = static_cast<std::size_t>(std::countr_zero(open));
    // A unit of several breakpoints is not left half done.
    const bool is_full = units_.room.is_full(found.parents.size() - first_part_, found.num_vertices - first_vertex_);
    if (open == 0 || (is_full && column % num_levels_ == 0)) {
        write(part, known, found);
        return true;
    }
    if (part.taken == ~Word{0}) return false;
    const auto slot = static_cast<std::size_t>(std::countr_one(part.taken));
    known.open = open &= open - 1;
    if (units_.is_last && is_through(open)) {
        halve(part, column, slot, known, found);
        return true;
    }

    const std::size_t first = points_.size(), first_id = ids_.size(), first_edge = edges_.size();
    add_crossings(part, column, bit(slot));
    if (!measure(first, open)) return false;
    // The upper part: its edges, vertices, and the new facet's, which are the lower part's too. Nothing goes over the
    // edges of a part that is not cut.
    Part upper = added_side(part, column, true, first);
    const std::size_t new_ids = upper.end_vertex - (points_.size() - first), new_edges = edges_.size();
    Part lower = added_side(part, column, false, first);
    if (upper.open(open) != 0 || lower.open(open) != 0) add_edges_of_facet(new_ids, upper.end_vertex, bit(slot));
    const std::size_t lower_edge = edges_.size();
    edges_.insert(edges_.end(), lower_edges_.begin(), lower_edges_.end());
    for (std::size_t e = new_edges; e < lower_edge; ++e) edges_.push_back(Edge{edges_[e]});
    upper.first_edge = first_edge;
    upper.end_edge = lower.first_edge = lower_edge;
    lower.end_edge = edges_.size();

    const KnownFacet before = facets_[slot];
    facets_[slot] = {INNER, static_cast<std::int32_t>(column), {}};
    const bool is_done = split(upper, with(known, bit(column)), found) && split(lower, known, found);
    facets_[slot] = before;
    shrink(first, first_id, first_edge);
    return is_done;
}

// Adds the vertices of a part on one side to the stack, and the new ones.
SimpleCells::Part SimpleCells::added_side(const Part& part, std::size_t column, bool is_above, std::size_t first_new) {
    const std::size_t begin = ids_.size(), num_new = points_.size() - first_new;
    Word some = 0, all = ~Word{0}, taken = 0;
    ids_.resize(begin + part.end_vertex - part.first_vertex + num_new);
    const std::uint32_t* from = ids_.data() + part.first_vertex;
    std::uint32_t* to = ids_.data() + begin;
    for (std::size_t i = part.first_vertex; i < part.end_vertex; ++i, ++from) {
        const Word above = above_[*from];
        const bool is_kept = ((above & bit(column)) != 0) == is_above;
        const Word mask = Word{0} - Word{is_kept};
        some |= above & mask;
        all &= above | ~mask;
        taken |= tight_[*from] & mask;
        *to = *from;
        to += is_kept;
    }
    for (std::size_t row = first_new; row < first_new + num_new; ++row) {
        some |= above_[row];
        all &= above_[row];
        taken |= tight_[row];
        *to++ = static_cast<std::uint32_t>(row);
    }
    ids_.resize(static_cast<std::size_t>(to - ids_.data()));
    return {begin, ids_.size(), 0, 0, some, all, taken};
}

// Adds a vertex where an edge of a part is crossed, and what is left of the edges above to the stack of edges; below
// to a list of its own. Sides are told without branches, which no processor could foresee.
void SimpleCells::add_crossings(const Part& part, std::size_t column, Word new_facet) {
    const std::size_t number = part.end_edge - part.first_edge, first_edge = edges_.size(), first = points_.size();
    edges_.resize(first_edge + number);
    lower_edges_.resize(number);
    crossed_.resize(number);
    const Edge* edges = edges_.data() + part.first_edge;
    Edge *upper = edges_.data() + first_edge, *lower = lower_edges_.data(), *crossed = crossed_.data();
    auto next = static_cast<std::uint32_t>(first);
    for (std::size_t e = 0; e < number; ++e) {
        const auto [tail, head] = edges[e];
        const bool tail_above = (above_[tail] & bit(column)) != 0, head_above = (above_[head] & bit(column)) != 0;
        const bool is_crossed = tail_above != head_above;
        const std::uint32_t a = tail_above ? tail : head, b = tail_above ? head : tail;
        *upper = {a, is_crossed ? next : b};
        *lower = {b, is_crossed ? next : a};
        *crossed = {a, b};
        upper += tail_above | head_above;
        lower += !(tail_above & head_above);
        crossed += is_crossed;
        next += is_crossed;
    }
    edges_.resize(static_cast<std::size_t>(upper - edges_.data()));
    lower_edges_.resize(static_cast<std::size_t>(lower - lower_edges_.data()));
    crossed_.resize(static_cast<std::size_t>(crossed - crossed_.data()));
    points_.resize(next);
    errors_.resize(next);
    tight_.resize(next);
    corners_.resize(next, NONE);
    for (std::size_t i = 0; i < crossed_.size(); ++i) {
        const auto [a, b] = crossed_[i];
        write_crossing({points_[a], errors_[a], values_[a][column], doubts_[a][column], blurs_[a][column]},
                       {points_[b], errors_[b], values_[b][column], doubts_[b][column], blurs_[b][column]},
                       units_.resolution.rounding, dim_ + 1, points_[first + i], errors_[first + i]);
        tight_[first + i] = (tight_[a] & tight_[b]) | new_facet;
    }
}

// Adds the edges of a cell; false if one has not two ends.
bool SimpleCells::find_edges(Part& part) {
    ends_.restart(ids_.size() * dim_);
    bool has_two = true;
    for (const std::uint32_t id : ids_) {
        each_bit(tight_[id], [&](std::size_t slot) {
            std::uint32_t& other = ends_.find_or_add(tight_[id] & ~bit(slot), id);
            if (other == id) return;
            has_two &= other != TAKEN;
            edges_.push_back({other, id});
            other = TAKEN;
        });
    }
    part.end_edge = edges_.size();
    return has_two && 2 * edges_.size() == ids_.size() * dim_;
}

// Adds the edges of a new facet, given its vertices.
void SimpleCells::add_edges_of_facet(std::size_t first_id, std::size_t end_id, Word new_facet) {
    const std::size_t number = end_id - first_id;
    if (number <= FEW) {
        std::array<Word, FEW> sets;
        for (std::size_t i = 0; i < number; ++i) sets[i] = tight_[ids_[first_id + i]];
        for (std::size_t i = 0; i < number; ++i) {
            for (std::size_t j = i + 1; j < number; ++j) {
                const Word others = sets[i] & ~sets[j];
                if ((others & (others - 1)) == 0) edges_.push_back({ids_[first_id + i], ids_[first_id + j]});
            }
        }
        return;
    }
    ends_.restart(number * dim_);
    for (std::size_t i = first_id; i < end_id; ++i) {
        const std::uint32_t id = ids_[i];
        each_bit(tight_[id] & ~new_facet, [&](std::size_t slot) {
            const std::uint32_t other = ends_.find_or_add(tight_[id] & ~bit(slot), id);
            if (other != id) edges_.push_back({other, id});
        });
    }
}

// Fills in the open functions at the vertices from one on; false if a sign is in doubt.
bool SimpleCells::measure(std::size_t first, Word open) {
    const std::size_t last = points_.size(), number = num_bits(open);
    values_.resize(last);
    doubts_.resize(last);
    blurs_.resize(last);
    above_.resize(last);
    std::size_t filled = 0;
    each_bit(open, [&](std::size_t column) { columns_[filled++] = column; });
    for (std::size_t a = 0; a <= dim_; ++a) {
        for (std::size_t i = 0; i < number; ++i) {
            open_maps_[a * number + i] = maps_[a][columns_[i]];
            open_errors_[a * number + i] = map_errors_[a][columns_[i]];
        }
    }
    double *values = sums_.data(), *terms = values + number, *doubts = terms + number, *blurs = doubts + number;
    for (std::size_t v = first; v < last; ++v) {
        std::fill_n(values, 4 * number, 0.0);
        add_up(points_[v], {points_[v], dim_ + 1, units_.resolution}, errors_[v], dim_ + 1,
               {open_maps_.data(), open_errors_.data(), number}, values, terms, doubts, blurs);
        Word above = 0;
        bool is_clear = true;
        for (std::size_t i = 0; i < number; ++i) {
            const std::size_t column = columns_[i];
            const double doubt = doubts[i] + units_.resolution.rounding * terms[i];
            values_[v][column] = values[i];
            doubts_[v][column] = doubt;
            blurs_[v][column] = blurs[i];
            const double floor = floors_[column] + units_.resolution.relative * terms[i];
            is_clear &= std::fabs(values[i]) > std::max(doubt + blurs[i], floor);
            above |= Word{values[i] > 0} << column;
        }
        if (!is_clear) return false;
        above_[v] = above;
    }
    return true;
}

// The last cut of a part: what is left of its facets are those with a vertex on the same side, and of new vertices no
// more is needed than where they are.
void SimpleCells::halve(const Part& part, std::size_t column, std::size_t slot, const Known& known, CutCells& found) {
    const std::size_t first = points_.size();
    const auto is_above = [&](std::uint32_t id) { return (above_[id] & bit(column)) != 0; };
    for (std::size_t e = part.first_edge; e < part.end_edge; ++e) {
        const Edge edge = edges_[e];
        const bool tail_above = is_above(edge.tail);
        if (tail_above == is_above(edge.head)) continue;
        const std::uint32_t a = tail_above ? edge.tail : edge.head, b = tail_above ? edge.head : edge.tail;
        const Shares shares(values_[a][column], values_[b][column]);
        double* point = points_.add();
        for (std::size_t k = 0; k <= dim_; ++k) point[k] = shares.between(points_[a][k], points_[b][k]);
    }
    corners_.resize(points_.size(), NONE);
    for (const bool side : {true, false}) {
        Word taken = bit(slot);
        Middle middle(found);
        const auto add = [&](std::size_t id) {
            middle.add(points_[id]);
            if (units_.keeps_vertices) add_corner(id, found);
        };
        for (std::size_t i = part.first_vertex; i < part.end_vertex; ++i) {
            const std::uint32_t id = ids_[i];
            if (is_above(id) != side) continue;
            taken |= tight_[id];
            add(id);
        }
        for (std::size_t row = first; row < points_.size(); ++row) add(row);
        found.num_vertices += middle.close();
        found.close_corners();
        const KnownFacet before = facets_[slot];
        facets_[slot] = {INNER, static_cast<std::int32_t>(column), {}};
        write_code(taken, side ? with(known, bit(column)) : known, found);
        facets_[slot] = before;
    }
    points_.resize(first);
    corners_.resize(first);
}

void SimpleCells::write(const Part& part, const Known& known, CutCells& found) {
    const bool is_finished = units_.is_last && is_through(known.open);
    if (!is_finished) write_vertices(part, found);
    if (units_.is_last) write_middle_and_corners(part, is_finished, found);
    found.num_vertices += part.end_vertex - part.first_vertex;
    write_code(part.taken, known, found);
}

void SimpleCells::write_middle_and_corners(const Part& part, bool is_finished, CutCells& found) {
    const bool is_kept = is_finished && units_.keeps_vertices;
    Middle middle(found);
    for (std::size_t i = part.first_vertex; i < part.end_vertex; ++i) {
        middle.add(points_[ids_[i]]);
        if (is_kept) add_corner(ids_[i], found);
    }
    middle.close();
    found.close_corners();
}

void SimpleCells::add_corner(std::size_t id, CutCells& found) {
    if (corners_[id] == NONE) corners_[id] = found.add_corner(points_[id], units_.corner_scale);
    found.corner_ids.push_back(corners_[id]);
}

void SimpleCells::write_vertices(const Part& part, CutCells& found) const {
    const std::size_t number = part.end_vertex - part.first_vertex;
    auto& out = found.cells;
    std::size_t row = out.vertices.size();
    out.vertices.resize(row + number);
    out.errors.resize(row + number);
    out.tight.resize(row + number);
    for (std::size_t i = part.first_vertex; i < part.end_vertex; ++i, ++row) {
        const std::uint32_t id = ids_[i];
        std::copy_n(points_[id], dim_ + 1, out.vertices[row]);
        std::copy_n(errors_[id], dim_ + 1, out.errors[row]);
        std::fill_n(out.tight[row], out.tight.width(), Word{0});
        out.tight[row][0] = tight_[id];
    }
}

// Adds all but the vertices of a part on some facets.
void SimpleCells::write_code(Word taken, const Known& known, CutCells& found) const {
    auto& out = found.cells;
    const auto [open, above, hash] = known;
    const std::size_t num_done = open == 0 ? num_units_ : static_cast<std::size_t>(std::countr_zero(open)) / num_levels_;
    std::uint16_t* pieces = found.pieces.add();
    std::fill_n(pieces, units_.number, 0);
    for (std::size_t unit = 0; unit < num_done; ++unit) {
        const Word levels = above >> (unit * num_levels_) & first_bits(num_levels_);
        pieces[first_unit_ + unit] = static_cast<std::uint16_t>(num_levels_ == 1 ? levels : num_bits(levels));
    }
    const bool is_whole = num_done == num_units_;
    const Key shown = is_whole ? hash : units_.hash(pieces, first_unit_, first_unit_ + num_done);
    append(found.hashes, shown.words.data(), 1);
    each_bit(taken, [&](std::size_t slot) {
        const KnownFacet& facet = facets_[slot];
        Key key = facet.key;
        if (facet.column != NONE) {
            const std::size_t unit = first_unit_ + facet.column / num_levels_, level = facet.column % num_levels_;
            key = flat_ ^ Key(units_.zero_words[unit * num_levels_ + level]) ^
                  Key(units_.piece_words[unit * (num_levels_ + 1) + pieces[unit]]);
        }
        out.slots.push_back(static_cast<std::int64_t>(slot));
        out.kinds.push_back(facet.kind);
        append(out.keys, key.words.data(), 1);
    });
    append(out.flat, flat_.words.data(), 1);
    out.vertex_offsets.push_back(static_cast<std::int64_t>(out.vertices.size()));
    out.facet_offsets.push_back(static_cast<std::int64_t>(out.slots.size()));
    found.parents.push_back(static_cast<std::int64_t>(cell_));
    found.next_units.push_back(static_cast<std::int64_t>(first_unit_ + num_done));
}

void SimpleCells::shrink(std::size_t num_vertices, std::size_t num_ids, std::size_t num_edges) {
    points_.resize(num_vertices);
    errors_.resize(num_vertices);
    tight_.resize(num_vertices);
    corners_.resize(num_vertices);
    ids_.resize(num_ids);
    edges_.resize(num_edges);
}

}  // namespace reluscope
