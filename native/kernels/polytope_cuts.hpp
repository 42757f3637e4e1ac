// One polytope cut by one hyperplane: heights of its vertices, the edges that are crossed, and the two halves.
#pragma once

#include <cmath>

#include "polytopes.hpp"

namespace reluscope {

// What is lost by rounding, and what is too thin to count.
struct Resolution {
    // Of a sum, relative to the magnitudes that add up to it.
    double rounding;
    // Values up to the scalar product of this with the coefficients' magnitudes count as zero,
    View<double> thinnest;
    // and those up to this share of the sum of the magnitudes of coefficients and coordinates, in cones where it is not 0.
    double relative;
};

// Of the coordinates of a point. In one of the cones that all but one of some directions span, those along the axes and
// that opposite to their sum, a coordinate is a sum of theirs with factors that are not negative, and its magnitude the
// same sum of their magnitudes: rounding changes no more than a share of that, on whichever edge the point lies.
class Magnitudes {
public:
    Magnitudes(const double* point, std::size_t width, const Resolution& resolution) : point_(point), last_(width - 1) {
        if (resolution.relative == 0) return;
        for (std::size_t a = 0; a < last_; ++a) lowest_ = point[a] < lowest_ ? point[a] : lowest_;
    }
    double operator[](std::size_t axis) const {
        return std::fabs(axis < last_ ? point_[axis] - 2 * lowest_ : point_[axis]);
    }

private:
    const double* point_;
    std::size_t last_;
    double lowest_ = 0.0;
};

// A function that is affine on a polytope, in homogeneous coordinates.
struct Hyperplane {
    Vector<double> coefficients, sizes;
    // Bounds on the errors of the coefficients.
    const double* errors = nullptr;
    // Values up to this count as zero wherever they are.
    double floor = 0.0;

    void set(const double* map, const double* map_errors, double level, const Resolution& resolution);
};

// A vertex, and what a function is there: its value, what rounding may have done to it, and what errors of the vertex may.
struct MeasuredVertex {
    const double *point, *error;
    double value, doubt, blur;
};

// The shares that the ends of an edge have in the point where a function is zero between them.
struct Shares {
    double below, above;
    // Both as quotients: one minus a share near one has no digits left.
    Shares(double value_above, double value_below)
        : below(value_above / (value_above - value_below)), above(-value_below / (value_above - value_below)) {}
    double between(double at_above, double at_below) const { return above * at_above + below * at_below; }
};

// Write where a function is zero between a vertex above and one below, and bounds on the errors of the coordinates.
void write_crossing(const MeasuredVertex& above, const MeasuredVertex& below, double rounding, std::size_t width,
                    double* point, double* error);

struct Facet {
    std::int64_t slot;
    Key key;
    std::uint8_t kind;
    // Whether the unit at hand is at a breakpoint there.
    bool at_zero;
};

// Which rows of `CutTables` a polytope has.
struct Polytope {
    std::size_t first_vertex, num_vertices, first_facet, num_facets;
};

// Polytopes back to back, among them holes where one was that has been cut.
struct CutTables {
    Table<double> points, errors;
    // Which facets vertices lie on, as bits of their slots.
    Table<Word> tight;
    Vector<Facet> facets;

    CutTables(std::size_t width, std::size_t num_words) : points(0, width), errors(0, width), tight(0, num_words) {}
    std::size_t num_words() const { return tight.width(); }
    void resize_vertices(std::size_t number);
};

class PolytopeCut {
public:
    PolytopeCut(const Resolution& resolution, CutTables& tables) : resolution_(resolution), tables_(tables) {}

    // How many vertices are above a hyperplane, below, neither, and how many of the latter are in doubt; whether
    // anything but zero can be hidden by rounding where they are neither.
    struct Sides {
        std::size_t plus = 0, minus = 0, zero = 0, undecided = 0;
        bool is_rounded = false;
    };
    Sides measure(const Hyperplane& plane, const Polytope& whole);

    // The following are about the polytope that was measured last. How many of its edges are crossed:
    std::size_t find_edges();
    // Put a breakpoint into the keys of the facets on all whose vertices the function is zero.
    void mark_zero_facets(const Key& breakpoint);
    // A slot that none of its facets has; there are more of them afterwards if all were taken.
    std::int64_t free_slot();
    // Add the half on one side (1 above, -1 below): last of its facets is the new one, in this slot.
    Polytope add_half(int side, const Facet& cut);

private:
    struct Edge {
        std::size_t above, below;
    };
    // A vertex on no more facets than it needs has an edge wherever it shares enough of them.
    struct Below {
        std::size_t vertex;
        bool is_simple;
    };

    const Word* tight(std::size_t vertex) const { return tables_.tight[whole_.first_vertex + vertex]; }
    bool is_edge(std::size_t one, std::size_t other) const;
    std::size_t copy_side(int side, std::int64_t slot, std::size_t target);
    std::size_t add_crossings(std::int64_t slot, std::size_t target);
    void add_facets(Polytope& half, const Facet& cut);

    Resolution resolution_;
    CutTables& tables_;
    Polytope whole_{};
    // For the vertices of the polytope: values, what rounding may do to them, and signs, 0 if they are open.
    Vector<double> values_, doubts_, blurs_;
    Vector<std::int8_t> signs_;
    // The vertices below, and the slots that each has; those that share enough with one above.
    Vector<Below> below_;
    Table<Word> sets_below_;
    Vector<std::uint32_t> sharing_;
    Vector<Edge> edges_;
    // Bits of slots.
    Vector<Word> found_, kept_;
};

}  // namespace reluscope
