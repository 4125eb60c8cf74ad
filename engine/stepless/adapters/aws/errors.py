"""Classifies botocore's errors: temporary, permanent, or a condition that failed because another caller was first.

A call without a response may have been carried out: its `StoreUnavailable` has the fact `unsure`. botocore itself repeats such a
call, and the repetition of a conditional write may collide with its own first try. So every verb that writes conditionally
recognizes its own write, or may be repeated without harm.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from botocore import exceptions as boto

from stepless.errors import EngineBug, SteplessError, StoreUnavailable, StoreUnusable

# Another caller was first. Not an error by itself: the verb decides what it means.
LOST: Final = frozenset({
    "ConditionalCheckFailedException",  # DynamoDB: a condition did not hold
    "ConflictException",  # Scheduler: a schedule of this name exists
    "PreconditionFailed",  # S3: an object of this key exists
})  # fmt: skip

# The object does not exist, which the verb may have expected.
MISSING: Final = frozenset({"NoSuchKey", "404", "ParameterNotFound"})

# Refused before any change: retry, more slowly.
THROTTLED: Final = frozenset({
    "ProvisionedThroughputExceededException", "ThrottlingException", "Throttling", "RequestLimitExceeded",
    "TooManyRequestsException", "RequestThrottled", "OverLimit", "KmsThrottled", "SlowDown", "LimitExceededException",
    "ConditionalRequestConflict",  # S3: another caller is writing the object, and may still fail
})  # fmt: skip

# The service failed, before or after it carried out the call.
FAILED: Final = frozenset({
    "InternalServerError", "InternalServerException", "InternalFailure", "InternalError", "InternalServiceError",
    "ServiceUnavailable", "ServiceUnavailableException", "ServiceFailure", "RequestTimeout", "RequestTimeoutException",
    "500", "502", "503", "504",
})  # fmt: skip

# Retrying does not help: code → what the operator can do.
_ROLE: Final = "give the function's role this permission"
_LOGIN: Final = "configure valid credentials"
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

# Errors of the client without a response from the service: whether the call may have been carried out.
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
    """Returns the service's error code; empty if the response has none."""
    return str(error.response.get("Error", {}).get("Code", ""))


def translate(error: Exception, place: str) -> SteplessError:
    """Returns the Stepless error for an error of boto3. `place` is the table, queue or bucket."""
    if isinstance(error, boto.ClientError):
        code, message = code_of(error), f"{code_of(error)} at {error.operation_name}"
        status = int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
        if code in THROTTLED:
            return StoreUnavailable(message, place=place, mend="try again later", unsure=False)
        if code in NEVER:
            return StoreUnusable(message, place=place, mend=NEVER[code])
        if code in FAILED or status >= 500:
            return StoreUnavailable(message, place=place, mend="try again", unsure=True)
        return EngineBug(f"{message}: {error.response.get('Error', {}).get('Message', '')}", place=place)
    for kind, mend in UNUSABLE.items():
        if isinstance(error, kind):
            return StoreUnusable(str(error), place=place, mend=mend)
    for kind, unsure in UNREACHED.items():
        if isinstance(error, kind):
            return StoreUnavailable(type(error).__name__, place=place, mend="try again", unsure=unsure)
    return EngineBug(f"{type(error).__name__}: {error}", place=place)


@contextmanager
def translated(place: str) -> Iterator[None]:
    """Translates every boto3 error that leaves the block. The block itself must catch LOST and MISSING, as `ClientError`."""
    try:
        yield
    except (boto.ClientError, boto.BotoCoreError) as error:
        raise translate(error, place) from error
