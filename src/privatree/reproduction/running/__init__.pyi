from privatree.reproduction.running._provenance import alone as alone
from privatree.reproduction.running._study import NothingToRunError as NothingToRunError
from privatree.reproduction.running._study import Request as Request
