"""Proofs of the token."""

import pytest

from sandlot.errors import LinkError
from sandlot.link.proofs import check_token, new_token, prove, proven

ONE, OTHER, SESSION = "1" * 64, "2" * 64, "3" * 32


def test_a_proof_is_right_for_its_own_connection_and_side_only():
    token = new_token()
    proof = prove(token, "controller", SESSION, ONE, OTHER)
    assert proven(proof, token, "controller", SESSION, ONE, OTHER)
    assert not proven(proof, new_token(), "controller", SESSION, ONE, OTHER)
    assert not proven(proof, token, "rover", SESSION, ONE, OTHER)
    assert not proven(proof, token, "controller", SESSION, OTHER, ONE)
    assert not proven(proof, token, "controller", "4" * 32, ONE, OTHER)
    assert token not in proof


@pytest.mark.parametrize("token", ["", "short", "x" * 31, "x" * 40 + "\n", "é" * 40])
def test_a_weak_token_is_refused(token):
    with pytest.raises(LinkError, match="at least 32"):
        check_token(token)
