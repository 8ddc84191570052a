"""Signing in to Azure, and whether a token is missing because nobody answered.

azure-identity makes one error of both: of an identity that is set up wrongly, which stays so, and of a sign-in host
that cannot be reached, which passes. Its requests tell them apart.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from azure.core.credentials import AccessToken, AccessTokenInfo, TokenCredential, TokenRequestOptions
from azure.core.pipeline.transport import RequestsTransport
from azure.identity import DefaultAzureCredential
from requests import PreparedRequest, RequestException, Response, Session
from requests.adapters import HTTPAdapter

from connectors.azure_answers import refusal

_MACHINE = "169.254.169.254"
"""Where a machine of Azure has its metadata; elsewhere nobody answers there, which says nothing."""
_PASSING = 500
_THROTTLED = 429


class SignIn:
    """What gives tokens for Azure.

    Args:
        credential: azure-identity's default chain (environment, workload identity, managed identity, ...) when None.

    Attributes:
        credential: gives tokens.
    """

    def __init__(self, credential: TokenCredential | None = None) -> None:
        self._listening = _Listening()
        self.credential = credential if credential is not None else self._default()

    def _default(self) -> TokenCredential:
        session = Session()
        for scheme in ("https://", "http://"):
            session.mount(scheme, self._listening)
        return _Default(self._listening, RequestsTransport(session=session))

    @property
    def unserved(self) -> str | None:
        """What became of the last request for a token, if its host did not answer, or asked for patience.

        None where the last token that was wanted has cost no request.

        Of a credential that was given nothing is known.
        """
        return self._listening.unserved


class _Default(DefaultAzureCredential):
    """The default chain; whenever a token is wanted, what became of the requests for the one before is forgotten."""

    def __init__(self, listening: _Listening, transport: RequestsTransport) -> None:
        super().__init__(transport=transport)
        self._listening = listening

    def get_token(
        self, *scopes: str, claims: str | None = None, tenant_id: str | None = None, **options: object
    ) -> AccessToken:
        """See azure-identity."""
        self._listening.unserved = None
        return super().get_token(*scopes, claims=claims, tenant_id=tenant_id, **options)

    def get_token_info(self, *scopes: str, options: TokenRequestOptions | None = None) -> AccessTokenInfo:
        """See azure-identity."""
        self._listening.unserved = None
        return super().get_token_info(*scopes, options=options)


class _Listening(HTTPAdapter):
    """Carries the requests for tokens, and remembers how the last one ended."""

    def __init__(self) -> None:
        super().__init__()
        self.unserved: str | None = None

    def send(
        self,
        request: PreparedRequest,
        stream: bool = False,
        timeout: float | tuple[float | None, float | None] | None = None,
        verify: bool | str = True,
        cert: str | tuple[str, str] | None = None,
        proxies: dict[str, str] | None = None,
    ) -> Response:
        """See requests."""
        host = urlsplit(request.url or "").netloc
        try:
            response = super().send(request, stream, timeout, verify, cert, proxies)
        except RequestException as error:
            self.unserved = None if host == _MACHINE else f"{host}: {refusal(str(error))}"
            raise
        status = response.status_code
        passing = status >= _PASSING or status == _THROTTLED
        # A proxy answers for an address that it cannot reach; the metadata service itself speaks JSON.
        served = not passing or (host == _MACHINE and not _is_json(response))
        self.unserved = None if served else f"{host} answered {status}"
        return response


def _is_json(response: Response) -> bool:
    try:
        response.json()
    except ValueError:
        return False
    return True
