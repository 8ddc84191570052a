"""A certificate authority for one test run: certificates of servers and clients, for the names that a test wants."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.types import CertificateIssuerPrivateKeyTypes
from cryptography.x509.oid import NameOID

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class Issued:
    """A certificate and its key, as PEM files; ``both`` holds the two."""

    certificate: Path
    key: Path
    both: Path

    def server_context(self) -> ssl.SSLContext:
        """For a server that shows the certificate."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, self.key)
        return context


class Authority:
    """An authority of its own; ``certificate`` is the PEM file that clients are to trust."""

    def __init__(self, folder: Path, name: str = "authority") -> None:
        self._folder = folder
        self._folder.mkdir(parents=True, exist_ok=True)
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        self._key = ec.generate_private_key(ec.SECP256R1())
        self.certificate = folder / f"{name}-ca.pem"
        own = self._signed(self._name, self._key.public_key(), None)
        self.certificate.write_bytes(own.public_bytes(serialization.Encoding.PEM))

    def issue(self, name: str, host: str = LOOPBACK, password: str | None = None) -> Issued:
        """A certificate for a host (an address or a name); its key encrypted with a password, if one is given."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        certificate = self._signed(subject, key.public_key(), host).public_bytes(serialization.Encoding.PEM)
        how: serialization.KeySerializationEncryption = (
            serialization.NoEncryption()
            if password is None
            else serialization.BestAvailableEncryption(password.encode())
        )
        private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, how)
        return Issued(
            self._written(f"{name}.pem", certificate),
            self._written(f"{name}.key", private),
            self._written(f"{name}-both.pem", private + certificate),
        )

    def _signed(self, subject: x509.Name, key: ec.EllipticCurvePublicKey, host: str | None) -> x509.Certificate:
        now = datetime.datetime.now(datetime.UTC)
        signer: CertificateIssuerPrivateKeyTypes = self._key
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=host is None, path_length=None), critical=True)
        )
        if host is not None:
            builder = builder.add_extension(x509.SubjectAlternativeName([_alternative(host)]), critical=False)
        return builder.sign(signer, hashes.SHA256())

    def _written(self, name: str, content: bytes) -> Path:
        path = self._folder / name
        path.write_bytes(content)
        return path


def _alternative(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)
