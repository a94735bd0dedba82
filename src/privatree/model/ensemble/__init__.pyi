from privatree.model.ensemble._ensemble import Ensemble as Ensemble
from privatree.model.ensemble._ensemble_json import ensemble_from_dict as ensemble_from_dict
from privatree.model.ensemble._ensemble_json import ensemble_to_dict as ensemble_to_dict
from privatree.model.ensemble._round_functions import Branch as Branch
from privatree.model.ensemble._round_functions import Round as Round
from privatree.model.ensemble._round_functions import RoundFunction as RoundFunction
from privatree.model.ensemble._round_functions import Step as Step
from privatree.model.ensemble._round_functions import nodes_of as nodes_of
