"""The commands, one per file: each parses its options, calls the library and prints.

``_audit.py``, ``_budget.py``, ``_certify.py``, ``_demo.py``, ``_export.py``, ``_fit.py``,
``_predict.py``, ``_report.py``, ``_reproduce.py``, ``_schema.py`` (draft and check), ``_score.py``,
``_show.py``.
"""
