#include "double_description.hpp"

namespace reluscope {

CellCutter::CellCutter(const CuttingUnits& units, std::size_t width, std::size_t num_words)
    : units_(units), tables_(width, num_words), cut_(units.resolution, tables_), pieces_(0, units.number) {}

void CellCutter::cut(const PolytopesView& cells, std::size_t cell, CutCells& made) {
    open(cells, cell);
    auto unit = static_cast<std::size_t>(units_.first[cell]);
    const std::size_t end = units_.end(cell);
    bool is_full = false;
    for (; unit < end && !is_full; ++unit) {
        const std::size_t row = units_.row(cell, unit);
        for (auto& part : parts_) part.at_zero = false;
        for (std::size_t level = 0; level < units_.num_levels; ++level) {
            plane_.set(units_.maps[row], units_.errors[row], units_.breakpoints[level][unit], units_.resolution);
            // Parts that come from a cut have nothing left on the other side.
            const std::size_t number = parts_.size();
            for (std::size_t part = 0; part < number; ++part) cut_part(part, unit, level);
        }
        show_pieces(unit);
        is_full = units_.room.is_full(parts_.size(), num_vertices());
    }
    close(cell, unit, made);
}

std::size_t CellCutter::num_vertices() const {
    std::size_t number = 0;
    for (const auto& part : parts_) number += part.at.num_vertices;
    return number;
}

void CellCutter::open(const PolytopesView& cells, std::size_t cell) {
    const auto first = static_cast<std::size_t>(cells.vertex_offsets[cell]);
    const auto first_facet = static_cast<std::size_t>(cells.facet_offsets[cell]);
    const Polytope whole{0, static_cast<std::size_t>(cells.vertex_offsets[cell + 1]) - first, 0,
                         static_cast<std::size_t>(cells.facet_offsets[cell + 1]) - first_facet};
    const std::size_t width = cells.vertices.width(), num_words = tables_.num_words();
    tables_.resize_vertices(whole.num_vertices);
    std::copy_n(cells.vertices[first], whole.num_vertices * width, tables_.points[0]);
    std::copy_n(cells.errors[first], whole.num_vertices * width, tables_.errors[0]);
    for (std::size_t v = 0; v < whole.num_vertices; ++v) {
        // An earlier cell may have asked for more words.
        std::fill_n(tables_.tight[v], num_words, 0);
        std::copy_n(cells.tight[first + v], cells.tight.width(), tables_.tight[v]);
    }
    tables_.facets.clear();
    for (std::size_t f = first_facet; f < first_facet + whole.num_facets; ++f)
        tables_.facets.push_back({cells.slots[f], Key(cells.keys[f]), cells.kinds[f], false});
    parts_.assign(1, {whole, Key(cells.flat[cell]), false, {}});
    pieces_.resize(0);
    std::fill_n(pieces_.add(), units_.number, 0);
}

void CellCutter::cut_part(std::size_t part, std::size_t unit, std::size_t level) {
    const std::size_t dim = units_.maps.width() - 1;
    const Key breakpoint(units_.zero_words[unit * units_.num_levels + level]);
    const auto sides = cut_.measure(plane_, parts_[part].at);
    if (sides.plus + sides.minus > 0)
        num_undecided_ += sides.undecided;
    else if (sides.is_rounded)
        parts_[part].flat_units.push_back({unit, level, sides.undecided > 0});
    if (sides.plus > 0 && sides.minus > 0) {
        if (sides.zero + cut_.find_edges() >= dim) return split(part, unit, breakpoint);
        // Rounding has made the cut impossible.
        ++num_undecided_;
    }
    if (sides.plus >= sides.minus && sides.plus > 0) ++pieces_[part][unit];
    if (sides.zero == parts_[part].at.num_vertices) {
        parts_[part].flat ^= breakpoint;
        parts_[part].at_zero = true;
    }
    if (sides.zero >= dim) cut_.mark_zero_facets(breakpoint);
}

// The half above is a new part, the half below takes the place of the whole.
void CellCutter::split(std::size_t part, std::size_t unit, const Key& breakpoint) {
    Part above = parts_[part];
    const Facet facet{cut_.free_slot(), above.flat ^ breakpoint, INNER, true};
    above.at = cut_.add_half(1, facet);
    parts_[part].at = cut_.add_half(-1, facet);
    parts_.push_back(above);
    std::uint16_t* pieces = pieces_.add();
    std::copy_n(pieces_[part], units_.number, pieces);
    ++pieces[unit];
}

// Take the piece of a unit out of the keys of facets and parts on its breakpoints, where it has none.
void CellCutter::show_pieces(std::size_t unit) {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        auto& part = parts_[i];
        const Key piece(units_.piece_words[unit * (units_.num_levels + 1) + pieces_[i][unit]]);
        for (std::size_t f = part.at.first_facet; f < part.at.first_facet + part.at.num_facets; ++f) {
            auto& facet = tables_.facets[f];
            if (facet.at_zero) facet.key ^= piece;
            facet.at_zero = false;
        }
        if (part.at_zero) part.flat ^= piece;
    }
}

void CellCutter::close(std::size_t cell, std::size_t next_unit, CutCells& made) {
    auto& out = made.cells;
    out.widen(tables_.num_words());
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        const Polytope& at = parts_[i].at;
        const bool is_finished = units_.is_last && next_unit == units_.number;
        made.num_vertices += at.num_vertices;
        if (units_.is_last) {
            Middle middle(made);
            for (std::size_t v = 0; v < at.num_vertices; ++v) {
                middle.add(tables_.points[at.first_vertex + v]);
                if (is_finished && units_.keeps_vertices)
                    made.corner_ids.push_back(
                        made.add_corner(tables_.points[at.first_vertex + v], units_.corner_scale));
            }
            middle.close();
            made.close_corners();
        }
        // What is at a breakpoint up to rounding has to be looked at where it is.
        if (!is_finished || !parts_[i].flat_units.empty()) {
            append(out.vertices, tables_.points[at.first_vertex], at.num_vertices);
            append(out.errors, tables_.errors[at.first_vertex], at.num_vertices);
            append(out.tight, tables_.tight[at.first_vertex], at.num_vertices);
        }
        for (std::size_t f = at.first_facet; f < at.first_facet + at.num_facets; ++f) {
            const auto& facet = tables_.facets[f];
            out.slots.push_back(facet.slot);
            out.kinds.push_back(facet.kind);
            append(out.keys, facet.key.words.data(), 1);
        }
        append(out.flat, parts_[i].flat.words.data(), 1);
        out.vertex_offsets.push_back(static_cast<std::int64_t>(out.vertices.size()));
        out.facet_offsets.push_back(static_cast<std::int64_t>(out.slots.size()));
        made.parents.push_back(static_cast<std::int64_t>(cell));
        made.next_units.push_back(static_cast<std::int64_t>(next_unit));
        append(made.pieces, pieces_[i], 1);
        for (const auto& flat : parts_[i].flat_units) {
            std::int64_t* row = made.flat_units.add();
            row[0] = static_cast<std::int64_t>(made.parents.size()) - 1;
            row[1] = static_cast<std::int64_t>(flat.unit);
            row[2] = static_cast<std::int64_t>(flat.level);
            row[3] = flat.is_in_doubt;
        }
        const Key hash = units_.hash(pieces_[i], static_cast<std::size_t>(units_.first[cell]), next_unit);
        append(made.hashes, hash.words.data(), 1);
    }
    made.num_undecided += num_undecided_;
    num_undecided_ = 0;
}

void CutCells::keep(std::size_t number, std::size_t num_vertices_of_all, std::size_t num_corners) {
    cells.resize(number);
    resize_parts(number);
    corners.resize(num_corners);
    num_vertices = num_vertices_of_all;
}

void CutCells::resize(std::size_t number, std::size_t num_vertices, std::size_t num_facets) {
    cells.resize(number, num_vertices, num_facets);
    resize_parts(number);
}

void CutCells::resize_parts(std::size_t number) {
    parents.resize(number);
    next_units.resize(number);
    pieces.resize(number);
    hashes.resize(number);
    // They are there for all parts or for none.
    middles.resize(std::min(middles.size(), number));
    is_bounded.resize(middles.size());
    corner_offsets.resize(middles.size() + 1);
    corner_ids.resize(static_cast<std::size_t>(corner_offsets.back()));
}

}  // namespace reluscope
