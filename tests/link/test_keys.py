"""Keys: who may talk to whom."""

import ssl

import pytest

from link.rovers import ToyRover, serving
from sandlot.errors import LinkError
from sandlot.link.client import Client
from sandlot.link.keys import Keys, make_keys, read_token


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    return make_keys(tmp_path_factory.mktemp("keys") / "rover", ["rover.local", "10.0.0.7"])


def test_only_the_owner_may_read_them(keys):
    for file in keys.folder.iterdir():
        assert file.stat().st_mode & 0o077 == 0
    assert keys.folder.stat().st_mode & 0o077 == 0


def test_keys_are_not_replaced(keys):
    with pytest.raises(LinkError, match="already exists"):
        make_keys(keys.folder)


def test_a_token_that_others_may_read_is_refused(tmp_path):
    path = tmp_path / "token"
    path.write_text("a" * 64)
    path.chmod(0o644)
    with pytest.raises(LinkError, match="chmod 600"):
        read_token(path)


def test_missing_keys_are_one_clear_line(tmp_path):
    with pytest.raises(LinkError, match="sandlot rover keys"):
        Keys(tmp_path).rover_context()


def test_a_link_over_tls(keys):
    with (
        serving(ToyRover(), token=keys.token, tls=keys.rover_context()) as served,
        Client(port=served.port, token=keys.token, tls=keys.controller_context()) as client,
    ):
        assert client.move("left", 0.05).wait(10).outcome == "done"
        client.cut()
        assert client.move("left", 0.05).wait(10).outcome == "done"


def test_certificates_of_others_are_refused(keys, tmp_path):
    other = make_keys(tmp_path / "other")
    plain = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    plain.check_hostname, plain.verify_mode = False, ssl.CERT_NONE
    rover_as_controller = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    rover_as_controller.load_verify_locations(keys.folder / "authority.pem")
    rover_as_controller.load_cert_chain(keys.folder / "rover.pem", keys.folder / "rover.key")
    with serving(ToyRover(), token=keys.token, tls=keys.rover_context()) as served:
        for context in (other.controller_context(), plain, rover_as_controller, None):
            with pytest.raises(LinkError, match="no link"):
                Client(port=served.port, token=keys.token, tls=context, patience=1.0)
        assert not served.driver.orders
    with (
        serving(ToyRover(), token=keys.token, tls=other.rover_context()) as served,
        pytest.raises(LinkError, match="no link"),
    ):
        Client(port=served.port, token=keys.token, tls=keys.controller_context(), patience=1.0)


def test_tls_is_at_least_1_2(keys):
    for context in (keys.rover_context(), keys.controller_context()):
        assert context.minimum_version >= ssl.TLSVersion.TLSv1_2
        assert context.verify_mode == ssl.CERT_REQUIRED
    assert keys.controller_context().check_hostname


def test_expired_keys_are_refused_at_both_ends(tmp_path, monkeypatch):
    monkeypatch.setattr("sandlot.link.keys.DAYS", -0.5)
    expired = make_keys(tmp_path / "expired")
    for context in (expired.rover_context, expired.controller_context):
        with pytest.raises(LinkError, match=r"were valid until .*sandlot rover keys"):
            context()


def test_a_certificate_of_others_ends_the_first_attempt_at_once(keys, tmp_path):
    other = make_keys(tmp_path / "other")
    with (
        serving(ToyRover(), token=keys.token, tls=keys.rover_context()) as served,
        pytest.raises(LinkError, match="another certificate"),
    ):
        Client(port=served.port, token=keys.token, tls=other.controller_context(), patience=1e9)
