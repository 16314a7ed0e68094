"""Keys of a rover: a token, and certificates for both ends, made by `sandlot rover keys`.

A certificate authority of its own signs one certificate for the rover and one for its controllers, and is forgotten:
nobody can sign another. Each end accepts only what this authority has signed for the other end.
"""

import datetime
import ipaddress
import os
import ssl
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandlot.errors import LinkError, os_reason
from sandlot.extras import need
from sandlot.link.proofs import check_token, new_token
from sandlot.writing import drafted

DAYS = 730
"""So long the certificates are valid."""
LOCAL = ("localhost", "127.0.0.1", "::1")
TOKEN, AUTHORITY = "token", "authority.pem"
ROVER, CONTROLLER = ("rover.pem", "rover.key"), ("controller.pem", "controller.key")


@dataclass(frozen=True)
class Keys:
    """A folder of keys. A controller needs the token, the authority's certificate, and its own two files.

    Attributes:
        folder: Where they are.
    """

    folder: Path

    @property
    def token(self) -> str:
        """The token.

        Raises:
            LinkError: If there is none.
        """
        return read_token(self.folder / TOKEN)

    def rover_context(self) -> ssl.SSLContext:
        """What the rover needs for TLS: it asks controllers for their certificate."""
        context = self._context(ssl.PROTOCOL_TLS_SERVER, ROVER)
        context.verify_mode = ssl.CERT_REQUIRED
        return context

    def controller_context(self) -> ssl.SSLContext:
        """What a controller needs for TLS: it asks the rover for its certificate, which must name the host."""
        return self._context(ssl.PROTOCOL_TLS_CLIENT, CONTROLLER)

    def _context(self, side: int, own: tuple[str, str]) -> ssl.SSLContext:
        context = ssl.SSLContext(side)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        try:
            context.load_verify_locations(self.folder / AUTHORITY)
            context.load_cert_chain(self.folder / own[0], self.folder / own[1])
        except (OSError, ssl.SSLError) as error:
            reason = os_reason(error, self.folder) if isinstance(error, OSError) else str(error)
            raise LinkError(f"no keys in {self.folder} ({reason}); make some with: sandlot rover keys") from None
        for authority in context.get_ca_certs():  # all certificates were made with it, for the same time
            until = str(authority["notAfter"])
            if ssl.cert_time_to_seconds(until) < time.time():
                raise LinkError(f"the keys in {self.folder} were valid until {until}; make new: sandlot rover keys")
        return context


def read_token(path: Path) -> str:
    """The token in a file that only its owner may read.

    Raises:
        LinkError: If there is none, or others may read it.
    """
    try:
        if path.stat().st_mode & 0o077 and os.name == "posix":
            raise LinkError(f"others may read {path}; forbid that with: chmod 600 {path}")
        return check_token(path.read_text(encoding="ascii").strip())
    except (OSError, UnicodeDecodeError) as error:
        reason = os_reason(error, path) if isinstance(error, OSError) else "not text"
        raise LinkError(f"no token in {path} ({reason}); make one with: sandlot rover keys") from None


def write_token(path: Path, token: str) -> None:
    """Write a token so that only this user may read it; it replaces one that is there."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.unlink(missing_ok=True)
    _write(path, token.encode())


def make_keys(folder: Path, names: Sequence[str] = ()) -> Keys:
    """Make new keys.

    Args:
        folder: Which must not exist.
        names: Host names or addresses by which controllers reach the rover, besides this machine.

    Raises:
        LinkError: If the folder exists or cannot be written.
        MissingExtraError: If ``cryptography`` is not installed.
    """
    need("cryptography", "rover")
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import ExtendedKeyUsageOID as Use

    authority = ec.generate_private_key(ec.SECP256R1())
    own = _certificate("Sandlot rover authority", authority, authority, None, None, ())
    with drafted(folder, LinkError) as draft:
        draft.mkdir(mode=0o700)
        _write(draft / TOKEN, new_token().encode())
        _write(draft / AUTHORITY, own.public_bytes(form.Encoding.PEM))
        for files, name, use, hosts in (
            (ROVER, "Sandlot rover", Use.SERVER_AUTH, dict.fromkeys((*LOCAL, *names))),
            (CONTROLLER, "Sandlot controller", Use.CLIENT_AUTH, ()),
        ):
            key = ec.generate_private_key(ec.SECP256R1())
            signed = _certificate(name, key, authority, own, use, tuple(hosts))
            _write(draft / files[0], signed.public_bytes(form.Encoding.PEM))
            secret = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
            _write(draft / files[1], secret)
    return Keys(folder)


def _certificate(name: str, key: Any, signer: Any, issuer: Any, use: Any, hosts: tuple[str, ...]) -> Any:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.x509.oid import NameOID

    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject if issuer is None else issuer.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))  # clocks of rovers are often wrong
        .not_valid_after(now + datetime.timedelta(days=DAYS))
        .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=0 if issuer is None else None), True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), False)
        .add_extension(_usage(issuer is None), True)
    )
    if use is not None:
        builder = builder.add_extension(x509.ExtendedKeyUsage([use]), False)
    if hosts:
        builder = builder.add_extension(x509.SubjectAlternativeName([_host(each) for each in hosts]), False)
    return builder.sign(signer, hashes.SHA256())


def _usage(authority: bool) -> Any:
    from cryptography import x509

    others = dict.fromkeys(
        (
            "content_commitment",
            "key_encipherment",
            "data_encipherment",
            "key_agreement",
            "encipher_only",
            "decipher_only",
        ),
        False,
    )
    return x509.KeyUsage(digital_signature=not authority, key_cert_sign=authority, crl_sign=authority, **others)


def _host(name: str) -> Any:
    from cryptography import x509

    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        pass
    try:
        return x509.DNSName(name)
    except ValueError:
        raise LinkError(f"{name!r} is no host name; use letters, digits, dots and hyphens") from None


def _write(path: Path, content: bytes) -> None:
    """Write a new file that only this user may read."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)


def local_token(port: int) -> Path:
    """Where a rover without keys leaves its token for controllers of the same user on this machine."""
    base = os.environ.get("XDG_RUNTIME_DIR") or Path.home() / ".cache"
    return Path(base) / "sandlot" / f"rover-{port}.token"
