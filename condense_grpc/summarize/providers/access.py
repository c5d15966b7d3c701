"""How a provider is reached: its address and its key.

A key is looked up when a client is made, in this order: a file, a named environment variable, the provider's
customary variable. It is never stored elsewhere, never logged, and not part of any error.
"""

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from condense_grpc.domain.frozen import frozen
from condense_grpc.settings import SettingsInvalid
from condense_grpc.summarize.providers.names import PROVIDERS

# Local servers take anything, but their clients insist on a key.
NO_KEY = "no-key"


@frozen
class Access:
    """How one provider is reached. Empty members: the provider's own address, its customary variable."""

    base_url: str = ""
    key_env: str = ""
    key_file: str = ""


@frozen
class Credentials:
    """An address (empty: the provider's own) and a key. Prints without the key."""

    base_url: str
    key: str = field(repr=False)


def find_credentials(provider: str, access: Access, env: Mapping[str, str]) -> Credentials | None:
    """The credentials for a provider; None if it needs a key and there is none.

    A server of one's own (any base URL that was set) and a local provider may do without a key. Raises
    SettingsInvalid for a key file or a variable that was named and has nothing.
    """
    known = PROVIDERS[provider]
    base_url = access.base_url or known.base_url
    key = _named_key(access, env) or (env.get(known.key_env, "").strip() if known.key_env else "")
    if not key and not base_url:
        return None
    return Credentials(base_url, key or NO_KEY)


def _named_key(access: Access, env: Mapping[str, str]) -> str:
    if access.key_file:
        try:
            key = Path(access.key_file).read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsInvalid(f"the key file cannot be read ({type(error).__name__}): check its path") from None
        if not key:
            raise SettingsInvalid("the key file is empty: put the key of the provider into it")
        return key
    if access.key_env:
        key = env.get(access.key_env, "").strip()
        if not key:
            raise SettingsInvalid(f"the environment variable {access.key_env} is not set: it should hold the key")
        return key
    return ""
