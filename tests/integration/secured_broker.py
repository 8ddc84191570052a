"""What makes a broker demand a login: certificates, its properties, and the settings of a bridge that logs in."""

from __future__ import annotations

import datetime
import ipaddress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID

from connectors.kafka.config import SaslMechanism, SecurityProtocol

USER = "bridge"
PASSWORD = "ge\"h\\e; im\\n'{}"
LOGIN = "org.apache.kafka.common.security"


class Certificates:
    """One authority, a certificate of the broker for 127.0.0.1 and one of a client, as PEM files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._key = rsa.generate_private_key(65537, 2048)
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test authority")])
        self.ca = self._write("ca.pem", self._sign(self._name, self._key).public_bytes(serialization.Encoding.PEM))
        self.broker, _, _ = self._issue("broker")
        self.both, self.certificate, self.key = self._issue("client")

    def _issue(self, name: str) -> tuple[str, str, str]:
        key = rsa.generate_private_key(65537, 2048)
        signed = self._sign(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]), key)
        certificate = signed.public_bytes(serialization.Encoding.PEM)
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        return (
            self._write(f"{name}-both.pem", private + certificate),
            self._write(f"{name}.pem", certificate),
            self._write(f"{name}.key", private),
        )

    def _sign(self, subject: x509.Name, key: rsa.RSAPrivateKey) -> x509.Certificate:
        now = datetime.datetime.now(datetime.UTC)
        address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
        is_authority = subject == self._name
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(x509.SubjectAlternativeName([address]), critical=False)
            .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
            .sign(self._key, hashes.SHA256())
        )

    def _write(self, name: str, content: bytes) -> str:
        path = self.folder / name
        path.write_bytes(content)
        return str(path)


def secured(certificates: Certificates, protocol: SecurityProtocol, client_certificates: str) -> dict[str, str]:
    prefix = "listener.name.client."
    escaped = PASSWORD.replace("\\", "\\\\").replace('"', '\\"').replace("\\", "\\\\")
    return {
        "listener.security.protocol.map": f"CLIENT:{protocol},PLAIN:PLAINTEXT,CONTROLLER:PLAINTEXT",
        f"{prefix}sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
        f"{prefix}plain.sasl.jaas.config": f'{LOGIN}.plain.PlainLoginModule required user_{USER}="{escaped}";',
        f"{prefix}scram-sha-256.sasl.jaas.config": f"{LOGIN}.scram.ScramLoginModule required;",
        f"{prefix}scram-sha-512.sasl.jaas.config": f"{LOGIN}.scram.ScramLoginModule required;",
        f"{prefix}ssl.keystore.type": "PEM",
        f"{prefix}ssl.keystore.location": certificates.broker,
        f"{prefix}ssl.truststore.type": "PEM",
        f"{prefix}ssl.truststore.location": certificates.ca,
        f"{prefix}ssl.client.auth": client_certificates,
    }


def settings_section(certificates: Certificates, password: str) -> dict[str, str]:
    """``kafka.security``, for a client that logs in."""
    return {
        "protocol": SecurityProtocol.SASL_SSL.value,
        "mechanism": SaslMechanism.SCRAM_SHA_512.value,
        "username": USER,
        "password": password,
        "ca_file": certificates.ca,
    }
