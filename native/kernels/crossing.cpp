#include "crossing.hpp"

#include <array>

#include "crossing_proofs.hpp"

namespace reluscope {
namespace {

// Witnesses stay this far from the sides of the box, relative to its width, where rows allow it.
constexpr double INSET = 1e-9;
// Costs are moved by up to this share of themselves while the method runs.
constexpr double PERTURBATION = 1e-7;
// Violations of the box below this share of its width are rounding.
constexpr double ROUNDING = 1e-13;

// One run of the method.
class Run {
public:
    Run(const Question& question, Workspace& work)
        : question_(question),
          form_(question.form),
          sides_(question.sides),
          work_(work),
          frame_(work.frame),
          start_(dot(form_.coefficients, question.witness.z, frame_.size())) {}

    Answer go(double perturbation) {
        auto& dictionary = work_.dictionary;
        dictionary.begin(frame_, question_.full(frame_), sides_.number(), perturbation);
        bool is_perturbed = perturbation > 0.0;
        double least = std::max(form_.threshold, 2.0 * form_.noise);
        const std::int64_t max_steps = 400 + 40 * static_cast<std::int64_t>(std::min(sides_.number(), frame_.size()));
        for (std::int64_t step = 0; step < max_steps; ++step) {
            dictionary.place(work_.y.data());
            if (dictionary.bound() <= -form_.noise && is_proof(question_, 0.0, work_)) return {Verdict::none, step};
            frame_.image(work_.y.data(), work_.z.data());
            find_violations();
            const double reached = start_ + share_ * (value_at(work_.z) - start_);
            if (frame_.is_cone) {
                go_share();
                least = 2.0 * noise_at(form_.noise, form_.slack, work_.out_y.data());
            }
            const bool is_done = leaving_.which == NONE;
            if (reached > least && (is_done || reached >= GOOD_SHARE * (reached - start_))) {
                go_share();
                stay_in_box();
                frame_.image(work_.out_y.data(), work_.out_z.data());
                // What was computed on the way is checked at the point itself.
                return {value_at(work_.out_z) > least ? Verdict::some : Verdict::undecided, step};
            }
            if (is_done) {
                if (is_proof(question_, form_.threshold, work_)) return {Verdict::none, step};
                if (!is_perturbed) return {Verdict::undecided, step};
                is_perturbed = false;
                dictionary.restore();
                continue;
            }
            if (!dictionary.step(leaving_, sides_) || dictionary.is_full()) return {Verdict::undecided, step};
        }
        return {Verdict::undecided, max_steps};
    }

private:
    double value_at(const Vector<double>& z) const { return dot(form_.coefficients, z.data(), frame_.size()); }

    // The worst violation leaves; the way from the witness ends at the first one.
    void find_violations() {
        worst_ = 0.0;
        share_ = 1.0;
        leaving_ = {};
        see_columns();
        see_rows();
    }

    void see_columns() {
        const auto& dictionary = work_.dictionary;
        const double *at = question_.witness.y, *y = work_.y.data();
        for (std::size_t b = 0; b < dictionary.rank(); ++b) {
            const auto j = dictionary.basic(b);
            const double low = frame_.lower[j], high = frame_.upper[j];
            const double gap = std::max(low - y[j], y[j] - high);
            if (!(gap > 0.0)) continue;
            const double edge = y[j] < low ? low : high;
            share_ = std::min(share_, (edge - at[j]) / (y[j] - at[j]));
            if (!(gap > ROUNDING * (high - low))) continue;
            const double gain = gap * gap / (1.0 + dictionary.length(b));
            if (gain > worst_) {
                worst_ = gain;
                leaving_ = {static_cast<Variable>(b), y[j] < low ? 1.0 : -1.0, edge};
            }
        }
    }

    void see_rows() {
        const auto first = static_cast<Variable>(frame_.num_columns());
        for (std::size_t i = 0; i < sides_.number(); ++i) {
            const double value = dot(sides_.rows[i], work_.z.data(), frame_.size());
            if (!(value < 0.0)) continue;
            share_ = std::min(share_, work_.margins[i] / (work_.margins[i] - value));
            if (work_.dictionary.is_bound(i) || !(value < -2.0 * sides_.noise_of(i, work_.y.data()))) continue;
            const double gain = value * value / sides_.length(frame_, i);
            if (gain > worst_) {
                worst_ = gain;
                leaving_ = {first + static_cast<Variable>(i), 1.0, 0.0};
            }
        }
    }

    void go_share() {
        const double *at = question_.witness.y, *y = work_.y.data();
        for (std::size_t j = 0; j < frame_.num_columns(); ++j) work_.out_y[j] = at[j] + share_ * (y[j] - at[j]);
    }

    // Rounding of the sum could lead out of the box.
    void stay_in_box() {
        for (std::size_t j = 0; j < frame_.num_columns(); ++j)
            work_.out_y[j] = std::min(std::max(work_.out_y[j], frame_.lower[j]), frame_.upper[j]);
    }

    const Question& question_;
    const Form& form_;
    const Sides& sides_;
    Workspace& work_;
    const Frame& frame_;
    // The value of the form at the witness.
    double start_;
    double worst_ = 0.0, share_ = 1.0;
    Leaving leaving_;
};

}  // namespace

Workspace::Workspace(Frame given)
    : frame(std::move(given)),
      out_y(frame.num_columns(), 0.0),
      out_z(frame.size(), 0.0),
      y(frame.num_columns()),
      z(frame.size()),
      total(frame.size()),
      allowed(frame.num_columns()),
      full(frame.num_columns()) {}

Answer find_positive(const Question& question, Workspace& work) {
    const Sides& sides = question.sides;
    work.multipliers.resize(sides.number());
    work.margins.resize(sides.number());
    for (std::size_t i = 0; i < sides.number(); ++i)
        work.margins[i] = dot(sides.rows[i], question.witness.z, work.frame.size());
    Run run(question, work);
    Answer answer = run.go(PERTURBATION);
    if (answer.verdict == Verdict::undecided) {
        const Answer again = run.go(0.0);
        answer = {again.verdict, answer.steps + again.steps};
    }
    const bool is_line = work.frame.is_cone && work.frame.num_columns() == 2 && work.frame.is_identity();
    if (answer.verdict == Verdict::undecided && is_line && is_negative_on_line(question, work))
        answer.verdict = Verdict::none;
    return answer;
}

bool inner_point(const Question& question, const Frame& frame, const double* to_y, double least, double* y, double* z) {
    static constexpr std::array<double, 4> SHARES = {0.5, 0.25, 0.75, 0.5};
    const Form& form = question.form;
    const Sides& sides = question.sides;
    const double* at = question.witness.y;
    const std::size_t n = frame.num_columns(), size = frame.size();
    for (std::size_t attempt = 0; attempt < SHARES.size(); ++attempt) {
        const double share = least + (1.0 - least) * SHARES[attempt];
        const double inset = attempt + 1 < SHARES.size() ? INSET : 1e-14;
        double largest = 0.0;
        for (std::size_t j = 0; j < n; ++j) {
            const double low = frame.lower[j], high = frame.upper[j], margin = inset * (high - low);
            y[j] = std::min(std::max(at[j] + share * (to_y[j] - at[j]), low + margin), high - margin);
            largest = std::max(largest, std::abs(y[j]));
        }
        if (frame.is_cone)
            for (std::size_t j = 0; j < n; ++j) y[j] *= 0.5 / largest;
        frame.image(y, z);
        bool is_inside = dot(form.coefficients, z, size) > 2.0 * noise_at(form.noise, form.slack, y);
        for (std::size_t i = 0; i < sides.number() && is_inside; ++i)
            is_inside = dot(sides.rows[i], z, size) > 2.0 * sides.noise_of(i, y);
        if (is_inside) return true;
    }
    return false;
}

}  // namespace reluscope
