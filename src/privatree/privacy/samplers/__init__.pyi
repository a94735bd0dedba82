from privatree.privacy.samplers._decay import DECAY_ERROR as DECAY_ERROR
from privatree.privacy.samplers._decay import Decay as Decay
from privatree.privacy.samplers._decay import decay as decay
from privatree.privacy.samplers._decay import decay_table as decay_table
from privatree.privacy.samplers._decimal_powers import DecimalPowers as DecimalPowers
from privatree.privacy.samplers._linked_coins import LinkedCoins as LinkedCoins
from privatree.privacy.samplers._refinement import UNIT_ROUNDOFF as UNIT_ROUNDOFF
from privatree.privacy.samplers._refinement import precision as precision
