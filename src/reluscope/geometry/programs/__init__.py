"""Linear, quadratic and mixed-integer programs, in floats and in fractions, and what proves their answers."""
