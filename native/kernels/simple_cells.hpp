// Simple polytopes, each vertex on as many facets as there are dimensions, cut by functions of which no sign is in doubt.
//
// The parts of a cell share its vertices, each of which is measured once, for all functions; edges are kept, so that a
// cut passes over them and searches for none. Sums are those of the general path, term by term: whoever cuts a cell, its
// parts are the same.
#pragma once

#include "double_description.hpp"
#include "vertices_by_facets.hpp"

namespace reluscope {

class SimpleCells {
public:
    SimpleCells(const CuttingUnits& units, std::size_t width);

    // Appends the parts of a cell, cut by units until there is no room or a word has no more bits for functions; or
    // nothing, and returns false: where a vertex is on more facets than dimensions, a sign is in doubt, or there are
    // more facets than bits.
    bool cut(const PolytopesView& cells, std::size_t cell, CutCells& found);

private:
    // A range of the stack of vertices and one of the stack of edges; bit by bit the functions that are positive at some
    // of the vertices, and at all of them, and the facets that have one.
    struct Part {
        std::size_t first_vertex, end_vertex, first_edge, end_edge;
        Word some, all, taken;

        Word open(Word functions) const { return functions & some & ~all; }
    };
    struct Edge {
        std::uint32_t tail, head;
    };
    struct KnownFacet {
        std::uint8_t kind;
        std::int32_t column;  // the function that is zero on it, NONE for facets that the cell came with
        Key key;
    };

    // Functions of a part: those that are open on it, of which the sign changes, those known to be positive, and what
    // these add to its hash.
    struct Known {
        Word open, above;
        Key hash;
    };

    bool start(const PolytopesView& cells, std::size_t cell);
    void set_functions();
    Known screened();
    bool split(Part part, Known known, CutCells& found);
    Known with(Known known, Word above) const;
    Part added_side(const Part& part, std::size_t column, bool is_above, std::size_t first_new);
    void add_crossings(const Part& part, std::size_t column, Word new_facet);
    Part whole() const;
    bool find_edges(Part& part);
    void add_edges_of_facet(std::size_t first_id, std::size_t end_id, Word new_facet);
    bool measure(std::size_t first, Word open);
    bool is_through(Word open) const { return open == 0 && first_unit_ + num_units_ == units_.number; }
    void halve(const Part& part, std::size_t column, std::size_t slot, const Known& known, CutCells& found);
    void write(const Part& part, const Known& known, CutCells& found);
    void write_vertices(const Part& part, CutCells& found) const;
    void write_middle_and_corners(const Part& part, bool is_finished, CutCells& found);
    void add_corner(std::size_t id, CutCells& found);
    void write_code(Word taken, const Known& known, CutCells& found) const;
    void shrink(std::size_t num_vertices, std::size_t num_ids, std::size_t num_edges);

    CuttingUnits units_;
    std::size_t dim_, num_levels_, num_columns_;
    // The cell at hand, and the units that cut it.
    std::size_t cell_ = 0, first_unit_ = 0, num_units_ = 0;
    // Where its parts begin.
    std::size_t first_part_ = 0, first_vertex_ = 0, first_corner_ = 0;
    Key flat_{};
    std::array<KnownFacet, 64> facets_{};
    // By what the hash changes with each function that is positive, from that of the lowest pieces.
    Vector<Key> steps_;
    Key lowest_{};

    // The functions of the cell at hand, then those of them that are open, side by side: a row for each coordinate.
    Table<double> maps_, map_errors_;
    Vector<double> floors_;
    Vector<std::size_t> columns_;
    Vector<double> open_maps_, open_errors_, sums_;
    // The largest coordinates of the cell's vertices, the largest `Magnitudes`, and the largest bounds on their errors.
    Vector<double> reach_, sizes_, blur_;

    // Vertices of all parts that are being cut, and bit by bit which functions are positive there.
    Table<double> points_, errors_;
    Vector<Word> tight_, above_;
    // Where they are among the corners, NONE if no part that is finished has had them.
    Vector<std::int32_t> corners_;
    Table<double> values_, doubts_, blurs_;

    // Parts as stacks of vertices and edges.
    Vector<std::uint32_t> ids_;
    Vector<Edge> edges_, lower_edges_, crossed_;
    VerticesByFacets ends_;
};

}  // namespace reluscope
