"""A tree or an ensemble as an ONNX graph.

::

    _export_onnx.py      ``export_onnx``: the content of an ONNX file
    _tree_graph.py       the graph of a tree
    _ensemble_graph.py   the graph of an ensemble
    _graph.py            inputs, answers to questions, trees and outputs
    _types.py            the types of categories and labels
"""
