from privatree.reproduction.running._provenance import lock_output_folder as lock_output_folder
from privatree.reproduction.running._study import NothingToRunError as NothingToRunError
from privatree.reproduction.running._study import Request as Request
