// Polytopes cut one by one where units bend: see reluscope.geometry.cutting.double_description.
#pragma once

#include "polytope_cuts.hpp"

namespace reluscope {

// No more is begun once there are so many parts, of one cell or of all, or so many vertices of them, kept or not; and so
// many units cut a cell. What is left is cut another time.
struct Room {
    std::size_t parts, vertices, units;
    bool is_full(std::size_t num_parts, std::size_t num_vertices) const {
        return num_parts >= parts || num_vertices >= vertices;
    }
};

// Units that are affine on each of some cells, and the words of facets where they bend.
struct CuttingUnits {
    std::size_t number, num_levels;
    // Coefficients, and bounds on their errors: row `map * number + unit`.
    Rows<const double> maps, errors;
    // Row `level`, ascending.
    Rows<const double> breakpoints;
    // Row `unit * (num_levels + 1) + piece`, and row `unit * num_levels + level`.
    Rows<const Word> piece_words, zero_words;
    Resolution resolution;
    // For each cell, which of the maps is that on it, and the unit to begin with.
    View<std::int64_t> map_of_cell, first;
    Room room;
    // Whether nothing cuts the parts that all units have cut. Of these there are middles then and, where vertices are
    // kept, corners; nothing by which they could be cut.
    bool is_last, keeps_vertices;
    // What each coordinate of corners is multiplied by.
    View<double> corner_scale;

    // The exclusive or of the words of the pieces of some units.
    Key hash(const std::uint16_t* pieces, std::size_t first_unit, std::size_t end_unit) const {
        Key found;
        for (std::size_t unit = first_unit; unit < end_unit; ++unit)
            found ^= Key(piece_words[unit * (num_levels + 1) + pieces[unit]]);
        return found;
    }
    std::size_t row(std::size_t cell, std::size_t unit) const {
        return static_cast<std::size_t>(map_of_cell[cell]) * number + unit;
    }
    // Behind the last unit that cuts a cell.
    std::size_t end(std::size_t cell) const {
        const auto begin = static_cast<std::size_t>(first[cell]);
        return begin + std::min(number - begin, room.units);
    }
};

// Parts of some cells: the cell that each lies in, the number of breakpoints below each unit that has
// cut, what these pieces add to keys, and which unit comes next.
struct CutCells {
    PolytopeArrays cells;
    Vector<std::int64_t> parents, next_units;
    Table<std::uint16_t> pieces;
    Table<Word> hashes;
    // Breakpoints that units are at on a whole part as far as floats can tell: part, unit, level, and whether in doubt.
    Table<std::int64_t> flat_units;
    // Of the last units: the mean of each part's vertices, and whether all of them are points.
    Table<double> middles;
    Vector<std::uint8_t> is_bounded;
    // And the corners of parts that all units have cut, as rows of a table that parts of one cell share: from one offset
    // to the next.
    Table<double> corners;
    Vector<std::int32_t> corner_ids;
    Vector<std::int64_t> corner_offsets;
    // Cells that were cut with a sign undecided.
    Vector<std::int64_t> doubtful;
    // Of all parts, kept or not.
    std::size_t num_vertices = 0, num_undecided = 0;

    CutCells(std::size_t width, std::size_t num_words, std::size_t num_units)
        : cells(width, num_words), pieces(0, num_units), hashes(0, 2), flat_units(0, 4), middles(0, width),
          corners(0, width), corner_offsets(1, 0) {}
    // Returns its place.
    std::int32_t add_corner(const double* vertex, View<double> scale) {
        double* corner = corners.add();
        for (std::size_t axis = 0; axis < scale.size(); ++axis) corner[axis] = vertex[axis] * scale[axis];
        return static_cast<std::int32_t>(corners.size() - 1);
    }
    // After the corners of a part.
    void close_corners() { corner_offsets.push_back(static_cast<std::int64_t>(corner_ids.size())); }
    // Keep so many parts, the first ones, which have so many vertices, and so many corners.
    void keep(std::size_t number, std::size_t num_vertices_of_all, std::size_t num_corners);
    // Room for so many parts, with so many vertices and facets.
    void resize(std::size_t number, std::size_t num_vertices, std::size_t num_facets);

private:
    void resize_parts(std::size_t number);
};

// The middle of a part, in the making: its vertices are added in the order in which they would be kept.
class Middle {
public:
    explicit Middle(CutCells& made) : made_(made) {
        std::fill_n(made.middles.add(), made.middles.width(), 0.0);
        made.is_bounded.push_back(1);
    }
    void add(const double* vertex) {
        double* sums = made_.middles[made_.middles.size() - 1];
        const std::size_t width = made_.middles.width();
        for (std::size_t axis = 0; axis < width; ++axis) sums[axis] += vertex[axis];
        made_.is_bounded.back() &= vertex[width - 1] > 0.0;
        ++number_;
    }
    // Returns how many there were.
    std::size_t close() {
        double* sums = made_.middles[made_.middles.size() - 1];
        for (std::size_t axis = 0; axis < made_.middles.width(); ++axis) sums[axis] /= static_cast<double>(number_);
        return number_;
    }

private:
    CutCells& made_;
    std::size_t number_ = 0;
};

// Cuts one cell after another, and keeps its memory in between.
class CellCutter {
public:
    // Vertices of so many coordinates, and facets in the slots of so many words to begin with.
    CellCutter(const CuttingUnits& units, std::size_t width, std::size_t num_words);
    CellCutter(const CellCutter&) = delete;
    CellCutter& operator=(const CellCutter&) = delete;

    // Cut one of the cells by all units, or until there is no room, and add its parts to those of others.
    void cut(const PolytopesView& cells, std::size_t cell, CutCells& made);

private:
    struct FlatUnit {
        std::size_t unit, level;
        bool is_in_doubt;
    };
    struct Part {
        Polytope at;
        // As in `PolytopesView`, and whether the unit at hand is at a breakpoint on all of it.
        Key flat;
        bool at_zero;
        // What is zero there only up to rounding.
        Vector<FlatUnit> flat_units;
    };

    void open(const PolytopesView& cells, std::size_t cell);
    void cut_part(std::size_t part, std::size_t unit, std::size_t level);
    void split(std::size_t part, std::size_t unit, const Key& breakpoint);
    void show_pieces(std::size_t unit);
    std::size_t num_vertices() const;
    void close(std::size_t cell, std::size_t next_unit, CutCells& made);

    CuttingUnits units_;
    CutTables tables_;
    PolytopeCut cut_;
    Hyperplane plane_;
    std::vector<Part> parts_;
    Table<std::uint16_t> pieces_;
    std::size_t num_undecided_ = 0;
};

}  // namespace reluscope
