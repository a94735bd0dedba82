"""How to cite a model, and the fingerprint that identifies a model."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from privatree import __version__
from privatree.model import release_from_dict, released_any

SOFTWARE = (
    f"The privatree developers. privatree, version {__version__}: decision trees on sensitive "
    "tabular data with differential privacy. BSD-3-Clause."
)
SOFTWARE_BIBTEX = f"""@software{{privatree,
  author  = {{{{The privatree developers}}}},
  title   = {{privatree}},
  version = {{{__version__}}},
  license = {{BSD-3-Clause}}
}}"""
PAPER = (
    "Daniël Vos, Jelle Vos, Tianyu Li, Zekeriya Erkin and Sicco Verwer. Differentially-Private "
    "Decision Trees and Provable Robustness to Data Poisoning. 2023."
)
PAPER_ID = "arXiv:2305.15394"
PAPER_BIBTEX = """@article{Vos23,
  author  = {Dani{\\"e}l Vos and Jelle Vos and Tianyu Li and Zekeriya Erkin and Sicco Verwer},
  title   = {Differentially-Private Decision Trees and Provable Robustness to Data Poisoning},
  journal = {arXiv:2305.15394},
  year    = {2023}
}"""


def fingerprint(model: Any) -> str:
    """Return the SHA-256 hash of a model.

    Parameters
    ----------
    model : Model or fitted classifier
        Model whose schema, tree or ensemble, and privacy statement are hashed.

    Returns
    -------
    str
        64 hexadecimal digits: the hash of the model's JSON as ASCII without spaces. The hash is the
        same before the model is saved and after it is loaded.

    Examples
    --------
    >>> from privatree import PrivaTreeClassifier, datasets
    >>> X, y, schema = datasets.load("breast-w")
    >>> model = PrivaTreeClassifier(epsilon=1, max_depth=1, schema=schema, random_state=0)
    >>> len(fingerprint(model.fit(X, y)))
    64
    """
    # Converted back once, because a file has its amounts rounded up.
    written = release_from_dict(released_any(model).to_dict()).to_dict()
    text = json.dumps(written, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()
