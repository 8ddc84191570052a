"""One description of a cluster becomes the options of both Kafka clients."""

from __future__ import annotations

import re
from multiprocessing.reduction import ForkingPickler
from pathlib import Path

import pytest

from connectors.kafka.client_options import confluent_options, java_options, spark_options
from connectors.kafka.config import KafkaConfig, OAuth, Options, SaslMechanism, Security, SecurityProtocol, options
from connectors.kafka.errors import ClientOptionsError
from tests.support.authority import Authority

CERTIFICATE = "-----BEGIN CERTIFICATE-----\nY2VydA==\n-----END CERTIFICATE-----"
AUTHORITY = "-----BEGIN CERTIFICATE-----\nY2E=\n-----END CERTIFICATE-----"
KEY = "-----BEGIN PRIVATE KEY-----\na2V5\n-----END PRIVATE KEY-----"
OLD_KEY = "-----BEGIN RSA PRIVATE KEY-----\na2V5\n-----END RSA PRIVATE KEY-----"
LOGIN = "org.apache.kafka.common.security"


def cluster(security: Security | None = None, *, client: dict[str, str] | None = None, **spark: str) -> KafkaConfig:
    java = {name.replace("_", "."): value for name, value in spark.items()}
    return KafkaConfig("broker:9092", security or Security(), options(client or {}), options(java))


def scram(key_password: str | None = None) -> Security:
    return Security(
        SecurityProtocol.SASL_SSL, SaslMechanism.SCRAM_SHA_512, "bridge", "geheim", key_password=key_password
    )


def oauth(scope: str | None = None, extensions: Options = ()) -> Security:
    credentials = OAuth("https://login/token", "cdc", "geheim", scope, extensions)
    return Security(SecurityProtocol.SASL_SSL, SaslMechanism.OAUTHBEARER, oauth=credentials)


def test_plaintext_needs_nothing_but_the_servers() -> None:
    assert confluent_options(cluster()) == {"bootstrap.servers": "broker:9092", "security.protocol": "PLAINTEXT"}
    assert spark_options(cluster()) == {
        "kafka.bootstrap.servers": "broker:9092",
        "kafka.security.protocol": "PLAINTEXT",
    }


def test_further_options_reach_only_their_own_client() -> None:
    config = cluster(client={"socket.keepalive.enable": "true"}, max_poll_records="5000")

    assert confluent_options(config) == {
        "bootstrap.servers": "broker:9092",
        "security.protocol": "PLAINTEXT",
        "socket.keepalive.enable": "true",
    }
    assert java_options(config) == {
        "bootstrap.servers": "broker:9092",
        "security.protocol": "PLAINTEXT",
        "max.poll.records": "5000",
    }


@pytest.mark.parametrize(
    ("mechanism", "module"),
    [
        (SaslMechanism.PLAIN, "plain.PlainLoginModule"),
        (SaslMechanism.SCRAM_SHA_256, "scram.ScramLoginModule"),
        (SaslMechanism.SCRAM_SHA_512, "scram.ScramLoginModule"),
    ],
)
def test_user_and_password_become_a_login_line_for_java(mechanism: SaslMechanism, module: str) -> None:
    security = Security(SecurityProtocol.SASL_SSL, mechanism, "bridge", "geheim", ca_file="/ca.pem")

    assert confluent_options(cluster(security)) == {
        "bootstrap.servers": "broker:9092",
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": mechanism.value,
        "sasl.username": "bridge",
        "sasl.password": "geheim",
        "ssl.ca.location": "/ca.pem",
    }
    assert java_options(cluster(security)) == {
        "bootstrap.servers": "broker:9092",
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": mechanism.value,
        "sasl.jaas.config": f'{LOGIN}.{module} required username="bridge" password="geheim";',
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": "/ca.pem",
    }


def test_quotes_backslashes_and_line_breaks_in_a_password_are_escaped_for_java() -> None:
    security = Security(SecurityProtocol.SASL_PLAINTEXT, SaslMechanism.PLAIN, 'a"b', 'x\\n"; y\nz')

    assert java_options(cluster(security))["sasl.jaas.config"] == (
        rf'{LOGIN}.plain.PlainLoginModule required username="a\"b" password="x\\n\"; y\nz";'
    )


def test_client_credentials_reach_both_clients() -> None:
    config = cluster(oauth(scope="kafka", extensions=(("logicalCluster", "lkc-1"), ("pool", "p"))))

    assert confluent_options(config) == {
        "bootstrap.servers": "broker:9092",
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.method": "oidc",
        "sasl.oauthbearer.token.endpoint.url": "https://login/token",
        "sasl.oauthbearer.client.id": "cdc",
        "sasl.oauthbearer.client.secret": "geheim",
        "sasl.oauthbearer.scope": "kafka",
        "sasl.oauthbearer.extensions": "logicalCluster=lkc-1,pool=p",
    }
    assert java_options(config) == {
        "bootstrap.servers": "broker:9092",
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.token.endpoint.url": "https://login/token",
        "sasl.login.callback.handler.class": f"{LOGIN}.oauthbearer.OAuthBearerLoginCallbackHandler",
        "sasl.jaas.config": f'{LOGIN}.oauthbearer.OAuthBearerLoginModule required clientId="cdc" clientSecret="geheim"'
        ' scope="kafka" extension_logicalCluster="lkc-1" extension_pool="p";',
    }


def test_both_clients_trust_the_token_endpoint_for_its_own_authority() -> None:
    credentials = OAuth("https://login/token", "cdc", "geheim", ca_file="/login ca.pem")
    config = cluster(
        Security(SecurityProtocol.SASL_SSL, SaslMechanism.OAUTHBEARER, ca_file="/ca.pem", oauth=credentials)
    )

    said, java = confluent_options(config), java_options(config)
    assert (said["https.ca.location"], said["ssl.ca.location"]) == ("/login ca.pem", "/ca.pem")
    assert java["ssl.truststore.location"] == "/ca.pem"
    assert java["sasl.jaas.config"].endswith(
        'clientSecret="geheim" ssl.truststore.type="PEM" ssl.truststore.location="/login ca.pem";'
    )


def test_certificate_and_key_in_one_file_are_named_to_java() -> None:
    security = Security(SecurityProtocol.SSL, certificate_file="/me.pem", key_file="/me.pem")

    assert java_options(cluster(security)) == {
        "bootstrap.servers": "broker:9092",
        "security.protocol": "SSL",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": "/me.pem",
    }


@pytest.mark.parametrize("files", ["one file", "two files", "text"])
def test_an_encrypted_key_is_decrypted_for_java(files: str, tmp_path: Path) -> None:
    issued = Authority(tmp_path).issue("me", password="geheim")
    certificate, key = (issued.both, issued.both) if files == "one file" else (issued.certificate, issued.key)
    if files == "text":
        pem = {"ssl.certificate.pem": certificate.read_text(), "ssl.key.pem": key.read_text()}
        config = cluster(client={"security.protocol": "SSL", "ssl.key.password": "geheim", **pem})
    else:
        config = cluster(
            Security(SecurityProtocol.SSL, certificate_file=str(certificate), key_file=str(key), key_password="geheim")
        )

    java = java_options(config)

    assert java["ssl.keystore.key"].startswith("-----BEGIN PRIVATE KEY-----")
    assert java["ssl.keystore.certificate.chain"].strip() == issued.certificate.read_text().strip()
    assert "ssl.key.password" not in java
    assert confluent_options(config)["ssl.key.password"] == "geheim"


@pytest.mark.parametrize("password", ["wrong", None])
def test_a_key_that_the_password_does_not_open_is_told(password: str | None, tmp_path: Path) -> None:
    issued = Authority(tmp_path).issue("me", password="geheim")
    security = Security(
        SecurityProtocol.SSL,
        certificate_file=str(issued.certificate),
        key_file=str(issued.key),
        key_password=password,
    )
    with pytest.raises(ClientOptionsError) as raised:
        java_options(cluster(security))
    assert raised.value.message == "the private key of the Kafka client cannot be decrypted with this password"
    assert raised.value.remedy == "check key_password (or its file) and key_file under kafka.security"
    assert raised.value.facts == {"file": str(issued.key)}


def test_certificate_and_key_in_two_files_are_given_to_java_as_text(tmp_path: Path) -> None:
    (tmp_path / "me.pem").write_bytes(f"Soci\u00e9t\u00e9\n{CERTIFICATE}\n{AUTHORITY}\n".encode("latin-1"))
    (tmp_path / "me.key").write_text(f"{KEY}\n")
    security = Security(
        SecurityProtocol.SSL, certificate_file=str(tmp_path / "me.pem"), key_file=str(tmp_path / "me.key")
    )

    assert java_options(cluster(security)) == {
        "bootstrap.servers": "broker:9092",
        "security.protocol": "SSL",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.certificate.chain": f"{CERTIFICATE}\n{AUTHORITY}",
        "ssl.keystore.key": KEY,
    }


def test_security_given_as_librdkafka_options_reaches_java_too() -> None:
    config = cluster(
        client={
            "security.protocol": "SASL_SSL",
            "sasl.mechanisms": "PLAIN",
            "sasl.username": "bridge",
            "sasl.password": "geheim",
            "ssl.ca.pem": AUTHORITY,
            "ssl.certificate.pem": CERTIFICATE,
            "ssl.key.pem": KEY,
            "ssl.endpoint.identification.algorithm": "none",
        }
    )

    assert java_options(config) == {
        "bootstrap.servers": "broker:9092",
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": f'{LOGIN}.plain.PlainLoginModule required username="bridge" password="geheim";',
        "ssl.truststore.type": "PEM",
        "ssl.truststore.certificates": AUTHORITY,
        "ssl.keystore.type": "PEM",
        "ssl.keystore.certificate.chain": CERTIFICATE,
        "ssl.keystore.key": KEY,
        "ssl.endpoint.identification.algorithm": "",
    }


def test_a_java_option_wins_over_the_translated_one() -> None:
    config = cluster(scram(), sasl_jaas_config="my.Login required;", security_protocol="SASL_PLAINTEXT")

    assert java_options(config) == {
        "bootstrap.servers": "broker:9092",
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.jaas.config": "my.Login required;",
    }


def test_another_mechanism_is_taken_when_both_clients_are_told_about_it() -> None:
    kerberos = {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "GSSAPI",
        "sasl.kerberos.service.name": "kafka",
        "sasl.kerberos.keytab": "/etc/bridge.keytab",
    }
    config = cluster(client=kerberos, sasl_jaas_config="com.sun.security.auth.module.Krb5LoginModule required;")

    assert confluent_options(config) == {"bootstrap.servers": "broker:9092", **kerberos}
    assert java_options(config) == {
        "bootstrap.servers": "broker:9092",
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "GSSAPI",
        "sasl.jaas.config": "com.sun.security.auth.module.Krb5LoginModule required;",
    }


MISFITS: list[tuple[KafkaConfig, str]] = [
    (
        cluster(Security(SecurityProtocol.PLAINTEXT, SaslMechanism.PLAIN, "u", "p")),
        "do not fit together: sasl.mechanism, sasl.password, sasl.username would be ignored with security.protocol "
        "PLAINTEXT. Remedy: use SASL_SSL",
    ),
    (
        cluster(Security(ca_file="/ca.pem")),
        "ssl.ca.location would be ignored with security.protocol PLAINTEXT. Remedy: use SSL or SASL_SSL",
    ),
    (
        cluster(Security(SecurityProtocol.SSL, certificate_file="/me.pem")),
        "mutual TLS needs a certificate and its private key; one is missing. Remedy: give both",
    ),
    (
        cluster(Security(SecurityProtocol.SASL_SSL)),
        "SASL needs a mechanism. Remedy: set one of PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER",
    ),
    (
        cluster(Security(SecurityProtocol.SASL_SSL, SaslMechanism.PLAIN, "u")),
        "the mechanism PLAIN needs sasl.password. Remedy: add what is missing",
    ),
    (
        cluster(Security(SecurityProtocol.SASL_SSL, SaslMechanism.OAUTHBEARER)),
        "the mechanism OAUTHBEARER needs sasl.oauthbearer.token.endpoint.url, sasl.oauthbearer.client.id, "
        "sasl.oauthbearer.client.secret. Remedy: add what is missing",
    ),
    (
        cluster(client={"security.protocol": "SASL_SSL", "sasl.mechanism": "GSSAPI"}),
        "the mechanism GSSAPI cannot be set up for both clients from these settings. Remedy: use one of PLAIN, "
        "SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER, or give the librdkafka options under kafka.client and "
        "sasl.jaas.config with its companions under kafka.spark",
    ),
    (
        cluster(client={"security.protocol": "TLS"}),
        "security.protocol 'TLS' is not one that Kafka knows. Remedy: use one of PLAINTEXT, SSL, SASL_PLAINTEXT, "
        "SASL_SSL",
    ),
]


@pytest.mark.parametrize(("config", "message"), MISFITS)
def test_settings_that_do_not_fit_together_are_refused(config: KafkaConfig, message: str) -> None:
    with pytest.raises(ClientOptionsError, match=re.escape(message) + "$"):
        confluent_options(config)


def test_a_security_option_that_java_does_not_have_is_refused_unless_java_is_told_in_its_own_words() -> None:
    client = {"security.protocol": "SSL", "enable.ssl.certificate.verification": "false"}

    with pytest.raises(ClientOptionsError) as raised:
        java_options(cluster(client=client))

    assert str(raised.value) == (
        "the option enable.ssl.certificate.verification of the librdkafka client has no counterpart in the Java client "
        "that Spark uses [option=enable.ssl.certificate.verification]. Remedy: say the same for Java under "
        "kafka.spark, or remove the option"
    )
    told = cluster(client=client, ssl_engine_factory_class="my.Trusting")
    assert java_options(told)["ssl.engine.factory.class"] == "my.Trusting"


def test_a_key_that_java_cannot_read_is_refused_with_the_command_that_converts_it(tmp_path: Path) -> None:
    (tmp_path / "me.pem").write_text(CERTIFICATE)
    old = tmp_path / "old.key"
    old.write_text(OLD_KEY)
    security = Security(SecurityProtocol.SSL, certificate_file=str(tmp_path / "me.pem"), key_file=str(old))

    with pytest.raises(ClientOptionsError) as raised:
        java_options(cluster(security))

    assert str(raised.value) == (
        "a PEM file of the Kafka client holds no private key in PKCS#8 form; it holds: RSA PRIVATE KEY "
        f"[file={old}]. Remedy: convert it: openssl pkcs8 -topk8 -in {old} -out key.pem "
        "(with -nocrypt for one without a password)"
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "a PEM file of the Kafka client cannot be read: No such file or directory"),
        (b"\xff\xfe", "holds no private key in PKCS#8 form; it holds: nothing in PEM form"),
        (b"nothing", "holds no private key in PKCS#8 form; it holds: nothing in PEM form"),
    ],
)
def test_a_file_that_holds_no_key_is_named(tmp_path: Path, content: bytes | None, message: str) -> None:
    key = tmp_path / "me.key"
    if content is not None:
        key.write_bytes(content)
    security = Security(SecurityProtocol.SSL, certificate_file="/me.pem", key_file=str(key))

    with pytest.raises(ClientOptionsError, match=re.escape(message)) as raised:
        java_options(cluster(security))

    assert raised.value.facts == {"file": str(key)}


def test_no_secret_shows_in_what_people_see() -> None:
    configs = [cluster(scram(key_password="geheim")), cluster(oauth()), cluster(client={"sasl.password": "geheim"})]

    assert "geheim" not in repr(configs)


def test_configurations_travel_to_executors_and_serve_as_keys() -> None:
    config = cluster(oauth(), client={"a": "b"})

    arrived = ForkingPickler.loads(ForkingPickler.dumps(config))

    assert arrived == config
    assert len({config, arrived}) == 1
