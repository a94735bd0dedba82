"""Exact samplers: the law of what comes out is the law in the proof, not a rounded one.

- :mod:`bernoulli`: a coin of bias exp(-x), x rational, in whole numbers only;
- :mod:`discrete_laplace`: two-sided geometric noise, in whole numbers only, fast in bulk;
- :mod:`discrete_gaussian`: Gaussian noise on the whole numbers;
- :mod:`selection`: a choice proportional to exp(score), or independent coins of such bias;
- :mod:`halving`: a choice by any weights of which approximations can be computed;
- :mod:`refinement`: what both rest on: decided in floating point where its error bound allows, in
  arbitrary precision where it does not;
- :mod:`scaled_floats`: positive numbers of any magnitude, for compiled kernels.
"""
