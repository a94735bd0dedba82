from privatree.model.terms._decomposition import ensemble_terms as ensemble_terms
from privatree.model.terms._measure import category_measure as category_measure
from privatree.model.terms._terms import Axis as Axis
from privatree.model.terms._terms import Term as Term
from privatree.model.terms._terms import Terms as Terms
