"""Errors of botocore, classified in one table: what heals by itself, what never does, and what means "somebody else was first".

A call whose answer never came may have been carried out: such a `StoreUnavailable` has the fact `unsure`. botocore itself
repeats a call then, and the repetition of a conditional write may collide with its own first try. So every verb that writes
conditionally knows its own write again, or may be repeated without harm.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from botocore import exceptions as boto

from stepless.errors import EngineBug, SteplessError, StoreUnavailable, StoreUnusable

# Somebody else was first: never an error by itself, the verb decides what it means.
LOST: Final = frozenset({
    "ConditionalCheckFailedException",  # DynamoDB: a condition did not hold
    "ConflictException",  # Scheduler: a schedule of this name exists
    "PreconditionFailed",  # S3: an object of this key exists
})  # fmt: skip

# It is not there, which the verb may have expected.
MISSING: Final = frozenset({"NoSuchKey", "404", "ParameterNotFound"})

# Refused before anything was done: try again, slower.
THROTTLED: Final = frozenset({
    "ProvisionedThroughputExceededException", "ThrottlingException", "Throttling", "RequestLimitExceeded",
    "TooManyRequestsException", "RequestThrottled", "OverLimit", "KmsThrottled", "SlowDown", "LimitExceededException",
    "ConditionalRequestConflict",  # S3: somebody is just writing it, and may yet fail
})  # fmt: skip

# The service failed, before or after it did what it was asked to.
FAILED: Final = frozenset({
    "InternalServerError", "InternalServerException", "InternalFailure", "InternalError", "InternalServiceError",
    "ServiceUnavailable", "ServiceUnavailableException", "ServiceFailure", "RequestTimeout", "RequestTimeoutException",
    "500", "502", "503", "504",
})  # fmt: skip

# Trying again is no use; what the operator can do about it.
_ROLE: Final = "give the function's role this permission"
_LOGIN: Final = "give valid credentials"
_MISSING: Final = "deploy the stack, or correct the name and the region"
NEVER: Final = {
    "ResourceNotFoundException": _MISSING,
    "NoSuchBucket": _MISSING,
    "QueueDoesNotExist": _MISSING,
    "AWS.SimpleQueueService.NonExistentQueue": _MISSING,
    "AccessDenied": _ROLE,
    "AccessDeniedException": _ROLE,
    "AuthorizationError": _ROLE,
    "UnrecognizedClientException": _LOGIN,
    "InvalidClientTokenId": _LOGIN,
    "InvalidSignatureException": _LOGIN,
    "SignatureDoesNotMatch": _LOGIN,
    "ExpiredTokenException": _LOGIN,
    "ExpiredToken": _LOGIN,
    "MissingAuthenticationToken": _LOGIN,
    "KMSAccessDeniedException": "let the function's role use the key",
    "KMSDisabledException": "enable the key",
    "ServiceQuotaExceededException": "ask for a higher quota",
}

# Errors of the client, before or instead of an answer: whether the call may have been carried out.
UNREACHED: Final[dict[type[Exception], bool]] = {
    boto.EndpointConnectionError: False,
    boto.ConnectTimeoutError: False,
    boto.ProxyConnectionError: False,
    boto.ReadTimeoutError: True,
    boto.ConnectionClosedError: True,
    boto.IncompleteReadError: True,
    boto.ResponseStreamingError: True,
    boto.HTTPClientError: True,
    boto.ConnectionError: True,
}
UNUSABLE: Final[dict[type[Exception], str]] = {
    boto.NoCredentialsError: _LOGIN,
    boto.PartialCredentialsError: _LOGIN,
    boto.CredentialRetrievalError: _LOGIN,
    boto.NoRegionError: "set AWS_REGION",
    boto.SSLError: "check the certificates and the endpoint",
}


def code_of(error: boto.ClientError) -> str:
    """The service's own word for it."""
    return str(error.response.get("Error", {}).get("Code", ""))


def translate(error: Exception, place: str) -> SteplessError:
    """Which of our errors it is. `place` is the table, queue or bucket."""
    if isinstance(error, boto.ClientError):
        code, said = code_of(error), f"{code_of(error)} at {error.operation_name}"
        status = int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
        if code in THROTTLED:
            return StoreUnavailable(said, place=place, mend="try again later", unsure=False)
        if code in NEVER:
            return StoreUnusable(said, place=place, mend=NEVER[code])
        if code in FAILED or status >= 500:
            return StoreUnavailable(said, place=place, mend="try again", unsure=True)
        return EngineBug(f"{said}: {error.response.get('Error', {}).get('Message', '')}", place=place)
    for kind, mend in UNUSABLE.items():
        if isinstance(error, kind):
            return StoreUnusable(str(error), place=place, mend=mend)
    for kind, unsure in UNREACHED.items():
        if isinstance(error, kind):
            return StoreUnavailable(type(error).__name__, place=place, mend="try again", unsure=unsure)
    return EngineBug(f"{type(error).__name__}: {error}", place=place)


@contextmanager
def translated(place: str) -> Iterator[None]:
    """Lets no foreign error out. What was LOST or MISSING must be caught inside, by `ClientError`."""
    try:
        yield
    except (boto.ClientError, boto.BotoCoreError) as error:
        raise translate(error, place) from error
