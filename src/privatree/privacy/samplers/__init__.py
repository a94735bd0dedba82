"""Exact samplers: the law of what comes out is the law in the proof, not a rounded one.

- :mod:`bernoulli`: a coin of bias exp(-x), x rational, in whole numbers only;
- :mod:`discrete_laplace`: two-sided geometric noise, in whole numbers only, fast in bulk;
- :mod:`discrete_gaussian`: Gaussian noise on the whole numbers;
- :mod:`selection`: a choice proportional to exp(score), or independent coins of such bias, decided
  in floating point where its error bound allows and in arbitrary precision where it does not.
"""
