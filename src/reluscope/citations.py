"""The sources that reluscope's definitions, methods and studies follow, by key.

A key is the first author's name and the year; findings and studies name their sources by key.
"""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Citation:
    """A published source.

    Parameters
    ----------
    key : str
        First author and year: ``serra2018``.
    authors : tuple of str
        In the order of the publication.
    title : str
    year : int
    venue : str
        Where it appeared, with pages or number where they help to find it.

    Examples
    --------
    >>> print(CITATIONS["zaslavsky1975"])
    Thomas Zaslavsky. Facing up to arrangements: face-count formulas for partitions of space by hyperplanes.
    Memoirs of the American Mathematical Society 1 (154), 1975.
    """

    key: str
    authors: tuple[str, ...]
    title: str
    year: int
    venue: str

    def __str__(self) -> str:
        *others, last = self.authors
        authors = f"{', '.join(others)} and {last}" if others else last
        return f"{authors}. {self.title}. {self.venue}, {self.year}."


def bibliography(keys: Iterable[str]) -> tuple[Citation, ...]:
    """Return the sources of some keys, each once, sorted by first author's key.

    Raises KeyError if a key is not known.
    """
    keys = sorted(set(keys))
    unknown = [key for key in keys if key not in CITATIONS]
    if unknown:
        raise KeyError(f"Expected keys of known sources, but {unknown[0]!r} came; the keys are {', '.join(CITATIONS)}.")
    return tuple(CITATIONS[key] for key in keys)


_SOURCES = (
    Citation(
        "arora2018",
        ("Raman Arora", "Amitabh Basu", "Poorya Mianjy", "Anirbit Mukherjee"),
        "Understanding deep neural networks with rectified linear units",
        2018,
        "International Conference on Learning Representations",
    ),
    Citation(
        "barber1996",
        ("C. Bradford Barber", "David P. Dobkin", "Hannu Huhdanpaa"),
        "The Quickhull algorithm for convex hulls",
        1996,
        "ACM Transactions on Mathematical Software 22 (4), 469-483",
    ),
    Citation(
        "behrmann2018",
        ("Jens Behrmann", "Sören Dittmer", "Pascal Fernsel", "Peter Maaß"),
        "Invariance and inverse stability under ReLU",
        2018,
        "Submission to the International Conference on Learning Representations 2019; see also arXiv 1806.09730",
    ),
    Citation(
        "berzins2023",
        ("Arturs Berzins",),
        "Polyhedral complex extraction from ReLU networks using edge subdivision",
        2023,
        "International Conference on Machine Learning",
    ),
    Citation(
        "constantine2014",
        ("Paul G. Constantine", "Eric Dow", "Qiqi Wang"),
        "Active subspace methods in theory and practice: applications to kriging surfaces",
        2014,
        "SIAM Journal on Scientific Computing 36 (4), A1500-A1524",
    ),
    Citation(
        "gamba2022",
        ("Matteo Gamba", "Adrian Chmielewski-Anders", "Josephine Sullivan", "Hossein Azizpour", "Mårten Björkman"),
        "Are all linear regions created equal?",
        2022,
        "AISTATS",
    ),
    Citation(
        "hanin2019",
        ("Boris Hanin", "David Rolnick"),
        "Complexity of linear regions in deep networks",
        2019,
        "International Conference on Machine Learning, 2596-2604",
    ),
    Citation(
        "hinz2019",
        ("Peter Hinz", "Sara van de Geer"),
        "A framework for the construction of upper bounds on the number of affine linear regions of ReLU feed-forward "
        "neural networks",
        2019,
        "IEEE Transactions on Information Theory 65 (11)",
    ),
    Citation(
        "hinz2021",
        ("Peter Hinz",),
        "Using activation histograms to bound the number of affine regions in ReLU feed-forward neural networks",
        2021,
        "arXiv 2103.17174",
    ),
    Citation(
        "huangfu2018",
        ("Qi Huangfu", "J. A. Julian Hall"),
        "Parallelizing the dual revised simplex method",
        2018,
        "Mathematical Programming Computation 10 (1), 119-142 (HiGHS)",
    ),
    Citation(
        "humayun2022",
        ("Ahmed Imtiaz Humayun", "Randall Balestriero", "Richard G. Baraniuk"),
        "MaGNET: uniform sampling from deep generative network manifolds without retraining",
        2022,
        "International Conference on Learning Representations",
    ),
    Citation(
        "humayun2023",
        ("Ahmed Imtiaz Humayun", "Randall Balestriero", "Guha Balakrishnan", "Richard G. Baraniuk"),
        "SplineCam: exact visualization and characterization of deep network geometry and decision boundaries",
        2023,
        "IEEE/CVF Conference on Computer Vision and Pattern Recognition",
    ),
    Citation(
        "humayun2024",
        ("Ahmed Imtiaz Humayun", "Randall Balestriero", "Richard G. Baraniuk"),
        "Deep networks always grok and here is why",
        2024,
        "International Conference on Machine Learning",
    ),
    Citation(
        "knuth1975",
        ("Donald E. Knuth",),
        "Estimating the efficiency of backtrack programs",
        1975,
        "Mathematics of Computation 29 (129)",
    ),
    Citation(
        "kornblith2019",
        ("Simon Kornblith", "Mohammad Norouzi", "Honglak Lee", "Geoffrey Hinton"),
        "Similarity of neural network representations revisited",
        2019,
        "International Conference on Machine Learning",
    ),
    Citation(
        "kuczynski1992",
        ("J. Kuczyński", "H. Woźniakowski"),
        "Estimating the largest eigenvalue by the power and Lanczos algorithms with a random start",
        1992,
        "SIAM Journal on Matrix Analysis and Applications 13 (4), 1094-1122",
    ),
    Citation(
        "meila2007",
        ("Marina Meilă",),
        "Comparing clusterings: an information based distance",
        2007,
        "Journal of Multivariate Analysis 98 (5), 873-895",
    ),
    Citation(
        "montufar2014",
        ("Guido Montúfar", "Razvan Pascanu", "Kyunghyun Cho", "Yoshua Bengio"),
        "On the number of linear regions of deep neural networks",
        2014,
        "Advances in Neural Information Processing Systems 27",
    ),
    Citation(
        "montufar2017",
        ("Guido Montúfar",),
        "Notes on the number of linear regions of deep neural networks",
        2017,
        "International Conference on Sampling Theory and Applications",
    ),
    Citation(
        "montufar2021",
        ("Guido Montúfar", "Yue Ren", "Leon Zhang"),
        "Sharp bounds for the number of regions of maxout networks and vertices of Minkowski sums",
        2021,
        "arXiv 2104.08135",
    ),
    Citation(
        "novak2018",
        ("Roman Novak", "Yasaman Bahri", "Daniel A. Abolafia", "Jeffrey Pennington", "Jascha Sohl-Dickstein"),
        "Sensitivity and generalization in neural networks: an empirical study",
        2018,
        "International Conference on Learning Representations",
    ),
    Citation(
        "odonnell2014",
        ("Ryan O’Donnell",),
        "Analysis of Boolean functions",
        2014,
        "Cambridge University Press",
    ),
    Citation(
        "pascanu2013",
        ("Razvan Pascanu", "Guido Montúfar", "Yoshua Bengio"),
        "On the number of response regions of deep feed forward networks with piece-wise linear activations",
        2013,
        "arXiv 1312.6098",
    ),
    Citation(
        "patel2025",
        ("Niket Patel", "Guido Montúfar"),
        "On the local complexity of linear regions in deep ReLU networks",
        2025,
        "International Conference on Machine Learning",
    ),
    Citation(
        "raghu2017",
        ("Maithra Raghu", "Ben Poole", "Jon Kleinberg", "Surya Ganguli", "Jascha Sohl-Dickstein"),
        "On the expressive power of deep neural networks",
        2017,
        "International Conference on Machine Learning",
    ),
    Citation(
        "roy2007",
        ("Olivier Roy", "Martin Vetterli"),
        "The effective rank: a measure of effective dimensionality",
        2007,
        "European Signal Processing Conference",
    ),
    Citation(
        "sattelberg2026",
        ("Ben Sattelberg",),
        "Local linearity of ReLU neural networks",
        2026,
        "Dissertation, Colorado State University",
    ),
    Citation(
        "serra2018",
        ("Thiago Serra", "Christian Tjandraatmadja", "Srikumar Ramalingam"),
        "Bounding and counting linear regions of deep neural networks",
        2018,
        "International Conference on Machine Learning",
    ),
    Citation(
        "serra2020",
        ("Thiago Serra", "Srikumar Ramalingam"),
        "Empirical bounds on linear regions of deep rectifier networks",
        2020,
        "AAAI Conference on Artificial Intelligence; arXiv 1810.03370",
    ),
    Citation(
        "shepeleva2020",
        ("Natalia Shepeleva", "Werner Zellinger", "Michal Lewandowski", "Bernhard Moser"),
        "ReLU code space: a basis for rating network quality besides accuracy",
        2020,
        "Workshop on Neural Architecture Search, International Conference on Learning Representations",
    ),
    Citation(
        "song2012",
        ("Le Song", "Alex Smola", "Arthur Gretton", "Justin Bedo", "Karsten Borgwardt"),
        "Feature selection via dependence maximization",
        2012,
        "Journal of Machine Learning Research 13, 1393-1434",
    ),
    Citation(
        "stargalla2025",
        ("Moritz Stargalla", "Christoph Hertrich", "Daniel Reichman"),
        "The computational complexity of counting linear regions in ReLU neural networks",
        2025,
        "Advances in Neural Information Processing Systems; arXiv 2505.16716",
    ),
    Citation(
        "williams2021",
        ("Alex H. Williams", "Erin Kunz", "Simon Kornblith", "Scott W. Linderman"),
        "Generalized shape metrics on neural representations",
        2021,
        "Advances in Neural Information Processing Systems",
    ),
    Citation(
        "xiong2020",
        ("Huan Xiong", "Lei Huang", "Mengyang Yu", "Li Liu", "Fan Zhu", "Ling Shao"),
        "On the number of linear regions of convolutional neural networks",
        2020,
        "International Conference on Machine Learning, 10514-10523",
    ),
    Citation(
        "zaslavsky1975",
        ("Thomas Zaslavsky",),
        "Facing up to arrangements: face-count formulas for partitions of space by hyperplanes",
        1975,
        "Memoirs of the American Mathematical Society 1 (154)",
    ),
    Citation(
        "zhang2020",
        ("Xiao Zhang", "Dongrui Wu"),
        "Empirical studies on the properties of linear regions in deep neural networks",
        2020,
        "International Conference on Learning Representations",
    ),
)

CITATIONS = {source.key: source for source in _SOURCES}
