"""A certificate authority made for a test, and a server certificate that it signed."""

import ipaddress
import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@dataclass(frozen=True)
class Authority:
    """The authority's PEM file, and the context of a server on 127.0.0.1 that it vouches for."""

    ca_file: Path
    server: ssl.SSLContext


def make_authority(folder: Path) -> Authority:
    """Make both; the keys stay in `folder`."""
    ca_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    ca_name, name = _name("Test authority"), _name("Test server")
    ca = _builder(ca_name, ca_name, ca_key)
    ca = ca.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    server = _builder(name, ca_name, key)
    server = server.add_extension(x509.SubjectAlternativeName([address]), critical=False)

    ca_file, chain = folder / "ca.pem", folder / "server.pem"
    ca_file.write_bytes(ca.sign(ca_key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    chain.write_bytes(
        server.sign(ca_key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain)
    return Authority(ca_file, context)


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
    )
