// Polytopes cut one by one where units bend: see reluscope.geometry.double_description.
#pragma once

#include "polytope_cuts.hpp"

namespace reluscope {

// Units that are affine on each of some cells, and the words of facets where they bend.
struct CuttingUnits {
    std::size_t number, num_levels;
    // Coefficients, and bounds on their errors: row `cell * number + unit`.
    Rows<const double> maps, errors;
    // Row `level`, ascending.
    Rows<const double> breakpoints;
    // Row `unit * (num_levels + 1) + piece`, and row `unit * num_levels + level`.
    Rows<const Word> piece_words, zero_words;
    Resolution resolution;
};

// Parts of cells: the cell that each lies in, and the number of breakpoints below each unit.
struct CutCells {
    PolytopeArrays cells;
    Vector<std::int64_t> parents;
    Table<std::uint16_t> pieces;
    std::size_t num_undecided = 0;

    // Keep so many parts, the first ones.
    void resize(std::size_t number);
};

// Cuts one cell after another, and keeps its memory in between.
class CellCutter {
public:
    // Vertices of so many coordinates, and facets in the slots of so many words to begin with.
    CellCutter(const CuttingUnits& units, std::size_t width, std::size_t num_words);
    CellCutter(const CellCutter&) = delete;
    CellCutter& operator=(const CellCutter&) = delete;

    // Cut one of the cells by all units, and add its parts to those of others.
    void cut(const PolytopesView& cells, std::size_t cell, CutCells& made);

private:
    struct Part {
        Polytope at;
        // As in `PolytopesView`, and whether the unit at hand is at a breakpoint on all of it.
        Key flat;
        bool at_zero;
    };

    void open(const PolytopesView& cells, std::size_t cell);
    void cut_part(std::size_t part, std::size_t unit, const Key& breakpoint);
    void split(std::size_t part, std::size_t unit, const Key& breakpoint);
    void show_pieces(std::size_t unit);
    void close(std::size_t cell, CutCells& made);

    CuttingUnits units_;
    CutTables tables_;
    PolytopeCut cut_;
    Hyperplane plane_;
    std::vector<Part> parts_;
    Table<std::uint16_t> pieces_;
    std::size_t num_undecided_ = 0;
};

CutCells cut_cells(const PolytopesView& cells, const CuttingUnits& units);

}  // namespace reluscope
