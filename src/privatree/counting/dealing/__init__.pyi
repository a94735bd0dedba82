from privatree.counting.dealing._copies import CopyCounter as CopyCounter
from privatree.counting.dealing._dealing import Dealing as Dealing
from privatree.counting.dealing._dealing import Part as Part
from privatree.counting.dealing._dealing import PassDealing as PassDealing
