"""EliteFurretAI: a trainer for Pokémon VGC doubles agents on Pokémon Showdown.

The folders are the data flow::

    engine       a battle runs: Pokémon Showdown as a library, formats, teams
      |
    observation  what one side may know becomes arrays
      |
    rl           the agent judges them            players  scripted opponents, the agent on a server
      |
    mdbo         its choice becomes an order, which goes back into the engine

What was seen and done flows through ``rl.memory`` to ``rl.learner``, and weights flow back. ``bc`` learns
from replays, ``arena`` rates, ``nash`` trains populations, ``cluster`` runs the trainer on many machines.

Imports point one way (``unit_tests/test_imports.py`` holds the table), and importing this module imports
nothing else: every part is paid for by those who use it.
"""

__version__ = "0.1.0"
