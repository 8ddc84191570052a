"""One description of a cluster, spoken to both clients: librdkafka (records, dead letters) and Java (Spark).

The security settings are written with librdkafka's names (its CONFIGURATION.md) and translated from there to the Java
client's (Kafka documentation, "Configuration" and "Security"). So a security option given among the further librdkafka
options reaches Java too; whatever cannot be said in Java is refused rather than left out.
"""

from __future__ import annotations

from collections.abc import Mapping

from connectors.kafka.config import KafkaConfig, OAuth, SaslMechanism, Security, SecurityProtocol
from connectors.kafka.errors import ClientOptionsError
from connectors.kafka.jaas import oauth_login, plain_login, scram_login
from connectors.kafka.pem import certificate_text, opened, private_key_text

SPARK_PREFIX = "kafka."
_SASL = (SecurityProtocol.SASL_PLAINTEXT, SecurityProtocol.SASL_SSL)
_TLS = (SecurityProtocol.SSL, SecurityProtocol.SASL_SSL)
_OAUTH_HANDLER = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler"
# Said with the same name and meaning by both clients.
_SAME_IN_JAVA = frozenset({"security.protocol", "sasl.mechanism", "ssl.key.password", "ssl.cipher.suites"})
_TRANSLATED = frozenset(
    {
        "sasl.username",
        "sasl.password",
        "ssl.ca.location",
        "ssl.ca.pem",
        "ssl.certificate.location",
        "ssl.certificate.pem",
        "ssl.key.location",
        "ssl.key.pem",
        "ssl.endpoint.identification.algorithm",
    }
)
_OAUTH_PREFIX = "sasl.oauthbearer."
_OAUTH_CA = "https.ca.location"
_ALIASES = {"sasl.mechanisms": "sasl.mechanism", "metadata.broker.list": "bootstrap.servers"}


def confluent_options(config: KafkaConfig) -> dict[str, str]:
    """Options for a client of ``confluent_kafka``.

    Raises:
        ClientOptionsError: the security settings do not fit together.
    """
    chosen = {_ALIASES.get(name, name): value for name, value in config.client}
    merged = {"bootstrap.servers": config.bootstrap_servers} | _security(config.security) | chosen
    _check(merged, java=dict(config.spark))
    return merged


def java_options(config: KafkaConfig) -> dict[str, str]:
    """Options for Kafka's Java client, which read PEM files of this machine where a key has a file of its own.

    Raises:
        ClientOptionsError: the settings do not fit together, a PEM file cannot be used, or an option about security
            has no counterpart in Java and none was given among the Java options.
    """
    said = confluent_options(config)
    extra = dict(config.spark)
    java = {"bootstrap.servers": said["bootstrap.servers"]}
    java |= {name: said[name] for name in sorted(_SAME_IN_JAVA & said.keys())}
    protocol = _protocol(said)
    if protocol in _TLS:
        java |= _java_tls(said)
        if "ssl.keystore.key" in java:
            # The key is given without encryption, and Java takes a password for a sign of one.
            java.pop("ssl.key.password", None)
    if protocol in _SASL and "sasl.jaas.config" not in extra:
        java |= _java_login(said)
    for name in sorted(said.keys() - _SAME_IN_JAVA - _TRANSLATED):
        about_security = name.startswith(("ssl.", "sasl.", "enable.ssl.")) and not name.startswith(_OAUTH_PREFIX)
        if about_security and name not in extra and not _covered(name, extra):
            raise ClientOptionsError(
                f"the option {name} of the librdkafka client has no counterpart in the Java client that Spark uses",
                remedy="say the same for Java under kafka.spark, or remove the option",
                option=name,
            )
    return java | extra


def spark_options(config: KafkaConfig) -> dict[str, str]:
    """Options of Spark's Kafka source: those of :func:`java_options`, each with the prefix ``kafka.``."""
    return {f"{SPARK_PREFIX}{name}": value for name, value in java_options(config).items()}


def _security(security: Security) -> dict[str, str]:
    said: dict[str, str | None] = {
        "security.protocol": security.protocol.value,
        "sasl.mechanism": security.mechanism.value if security.mechanism else None,
        "sasl.username": security.username,
        "sasl.password": security.password,
        "ssl.ca.location": security.ca_file,
        "ssl.certificate.location": security.certificate_file,
        "ssl.key.location": security.key_file,
        "ssl.key.password": security.key_password,
    }
    if security.oauth is not None:
        said |= _oauth(security.oauth, security)
    return {name: value for name, value in said.items() if value is not None}


def _oauth(oauth: OAuth, security: Security) -> dict[str, str | None]:
    return {
        "sasl.oauthbearer.method": "oidc",
        "sasl.oauthbearer.token.endpoint.url": oauth.token_url,
        "sasl.oauthbearer.client.id": oauth.client_id,
        "sasl.oauthbearer.client.secret": oauth.client_secret,
        "sasl.oauthbearer.scope": oauth.scope,
        "sasl.oauthbearer.extensions": ",".join(f"{name}={value}" for name, value in oauth.extensions) or None,
        _OAUTH_CA: oauth.ca_file,
    }


def _protocol(said: Mapping[str, str]) -> SecurityProtocol:
    text = said.get("security.protocol", SecurityProtocol.PLAINTEXT.value)
    try:
        return SecurityProtocol(text.upper())
    except ValueError:
        raise ClientOptionsError(
            f"security.protocol {text!r} is not one that Kafka knows",
            remedy=f"use one of {', '.join(SecurityProtocol)}",
        ) from None


def _check(said: Mapping[str, str], java: Mapping[str, str]) -> None:
    protocol = _protocol(said)
    sasl = sorted(name for name in said if name.startswith("sasl."))
    tls = sorted(name for name in said if name.startswith("ssl."))
    if protocol not in _SASL and sasl:
        raise _misfit(f"{', '.join(sasl)} would be ignored with security.protocol {protocol}", "use SASL_SSL")
    if protocol not in _TLS and tls:
        raise _misfit(f"{', '.join(tls)} would be ignored with security.protocol {protocol}", "use SSL or SASL_SSL")
    certificate = bool(said.keys() & {"ssl.certificate.location", "ssl.certificate.pem", "ssl.keystore.location"})
    key = bool(said.keys() & {"ssl.key.location", "ssl.key.pem", "ssl.keystore.location"})
    if certificate != key:
        raise _misfit("mutual TLS needs a certificate and its private key; one is missing", "give both")
    if protocol in _SASL:
        _check_sasl(said, java)


def _check_sasl(said: Mapping[str, str], java: Mapping[str, str]) -> None:
    mechanism = said.get("sasl.mechanism")
    required: tuple[str, ...]
    match mechanism:
        case None:
            raise _misfit("SASL needs a mechanism", f"set one of {', '.join(SaslMechanism)}")
        case SaslMechanism.PLAIN | SaslMechanism.SCRAM_SHA_256 | SaslMechanism.SCRAM_SHA_512:
            required = ("sasl.username", "sasl.password")
        case SaslMechanism.OAUTHBEARER:
            prefix = _OAUTH_PREFIX
            required = (f"{prefix}token.endpoint.url", f"{prefix}client.id", f"{prefix}client.secret")
        case other if "sasl.jaas.config" in java:
            return
        case other:
            raise _misfit(
                f"the mechanism {other} cannot be set up for both clients from these settings",
                f"use one of {', '.join(SaslMechanism)}, or give the librdkafka options under kafka.client and "
                "sasl.jaas.config with its companions under kafka.spark",
            )
    missing = [name for name in required if name not in said]
    if missing:
        raise _misfit(f"the mechanism {mechanism} needs {', '.join(missing)}", "add what is missing")


def _java_tls(said: Mapping[str, str]) -> dict[str, str]:
    java: dict[str, str] = {}
    if "ssl.ca.pem" in said:
        java |= {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": said["ssl.ca.pem"]}
    elif "ssl.ca.location" in said:
        java |= {"ssl.truststore.type": "PEM", "ssl.truststore.location": said["ssl.ca.location"]}
    password = said.get("ssl.key.password")
    one_file = "ssl.key.location" in said and said["ssl.key.location"] == said.get("ssl.certificate.location")
    if one_file and password is None:
        java |= {"ssl.keystore.type": "PEM", "ssl.keystore.location": said["ssl.key.location"]}
    elif said.keys() & {"ssl.key.location", "ssl.key.pem"}:
        # Java reads a key and its certificate from one file or from text, never from two files, and few encryptions.
        java |= {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.key": opened(said["ssl.key.pem"], password)
            if "ssl.key.pem" in said
            else private_key_text(said["ssl.key.location"], password),
            "ssl.keystore.certificate.chain": said.get("ssl.certificate.pem")
            or certificate_text(said["ssl.certificate.location"]),
        }
    if (algorithm := said.get("ssl.endpoint.identification.algorithm")) is not None:
        java["ssl.endpoint.identification.algorithm"] = "" if algorithm == "none" else algorithm
    return java


def _java_login(said: Mapping[str, str]) -> dict[str, str]:
    if said["sasl.mechanism"] == SaslMechanism.OAUTHBEARER:
        get = {name.removeprefix(_OAUTH_PREFIX): value for name, value in said.items()}
        return {
            "sasl.jaas.config": oauth_login(
                get["client.id"], get["client.secret"], get.get("scope"), get.get("extensions"), said.get(_OAUTH_CA)
            ),
            "sasl.oauthbearer.token.endpoint.url": get["token.endpoint.url"],
            "sasl.login.callback.handler.class": _OAUTH_HANDLER,
        }
    login = plain_login if said["sasl.mechanism"] == SaslMechanism.PLAIN else scram_login
    return {"sasl.jaas.config": login(said["sasl.username"], said["sasl.password"])}


def _covered(name: str, extra: Mapping[str, str]) -> bool:
    """Whether the Java options take care of the same subject in their own words."""
    subject = "sasl.jaas.config" if name.startswith("sasl.") else "ssl.keystore.location"
    return subject in extra or (name.startswith("enable.ssl.") and "ssl.engine.factory.class" in extra)


def _misfit(what: str, remedy: str) -> ClientOptionsError:
    return ClientOptionsError(f"the Kafka security settings do not fit together: {what}", remedy=remedy)
