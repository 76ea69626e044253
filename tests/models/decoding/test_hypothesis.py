import subprocess
import sys

from wikisum.models.decoding.hypothesis import Hypothesis


def test_fields_keep_their_order():
    found = Hypothesis([7, 8], -2.0, -0.5)
    assert (found.tokens, found.log_probability, found.score) == ([7, 8], -2.0, -0.5)


def test_torch_is_not_needed():
    code = "import sys, wikisum.models.decoding.hypothesis; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
