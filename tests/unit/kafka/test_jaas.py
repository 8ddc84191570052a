"""Login lines of the Java client that a person writes: what it cannot read is refused, before it tells of it."""

from __future__ import annotations

import pytest

from connectors.kafka.jaas import is_login, oauth_login, plain_login, scram_login
from streaming.settings import SettingsError, settings_of
from tests.unit.streaming.settings_builder import settings_text

MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"


@pytest.mark.parametrize(
    "text",
    [
        plain_login("bridge", "geheim"),
        scram_login('a "b" \\ c', "x\ny"),
        oauth_login("cdc", 's;c="', "a b", "one=1,two=2", "/etc/ca.pem"),
        f"{MODULE} required username=bridge password=geheim7;",
        f"{MODULE} REQUIRED username='bridge' password=\"a b\"  ;  ",
        f'{MODULE}\n  required\n  username="bridge" // the reader\n  /* of all */ password="p";\n',
        'com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true principal="a@B";',
        "my.Login required;",
    ],
)
def test_a_login_that_the_java_client_reads(text: str) -> None:
    assert is_login(text)


WRONG = [
    f"{MODULE} required username=bridge password=two words;",
    f"{MODULE} required username=bridge password=7up;",
    f"{MODULE} required username=bridge password=p@ss;",
    f'{MODULE} required username="bridge" password="geheim"',
    f'{MODULE} required username="bridge" password="ge"heim";',
    f'{MODULE} required username="bridge" password=;',
    f'{MODULE} username="bridge" password="geheim";',
    f'{MODULE} must username="bridge" password="geheim";',
    "geheim",
    "",
    f"{MODULE} required username=bridge password={'geheim=' * 40};",
    f"{MODULE} required {'/* a */' * 40} geheim",
]


@pytest.mark.parametrize("text", WRONG)
def test_one_that_it_cannot_read_is_refused_without_a_word_of_it(text: str) -> None:
    assert not is_login(text)
    with pytest.raises(SettingsError) as refused:
        settings_of(settings_text(kafka__spark={"sasl.jaas.config": text}), "bridge.yaml")
    said = f"{refused.value}"
    assert 'kafka.spark["sasl.jaas.config"]' in said
    assert "is no login of the Java client" in said
    for word in ("geheim", "words", "7up", "p@ss", "username="):
        assert word not in said
