"""Converts agents to `llm` nodes: model, messages, answer format, tools."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from stepless.imports.sim.outputs import response_schema
from stepless.imports.sim.site import Node, Site, call_name
from stepless.imports.sim.values import Unreadable, read_list, whole_number
from stepless.limits import MAX_ID_CHARACTERS, MAX_OUTPUT_TOKENS, MAX_TOOLS
from stepless.model.json import JSON

PROVIDERS: Final = (  # the beginning of a model's name → its provider
    (re.compile(r"gpt|chatgpt|o[1-9](?:$|-)|text-"), "openai"),
    (re.compile(r"claude"), "anthropic"),
    (re.compile(r"gemini"), "google"),
    (re.compile(r"grok"), "xai"),
    (re.compile(r"deepseek"), "deepseek"),
    (re.compile(r"mistral|magistral|codestral|ministral"), "mistral"),
    (re.compile(r"command"), "cohere"),
    (re.compile(r"sonar"), "perplexity"),
)
_ROLES: Final = ("system", "user", "assistant")
_MAX_TEMPERATURE: Final = 2


def agent(site: Site) -> Node:
    """An agent becomes an `llm` node. The block's API key is left out: the installation configures the key."""
    params: dict[str, JSON] = {**model_of(site), **_conversation(site)}
    schema = response_schema(site.take("responseFormat"))
    if schema is not None:
        params["response_schema"] = schema
    elif "responseFormat" in site.block.fields:
        site.warn("sim_field_unreadable", "responseFormat", field="responseFormat", detail="it does not contain a JSON Schema")
    tools = list(_tools(site))
    if tools:
        params["tools"] = tools
    return {"type": "llm", "with": {**params, **_settings(site)}}


def model_of(site: Site) -> dict[str, JSON]:
    """Returns `model`, and `provider` if it follows from the model's name."""
    model = site.take("model")
    if not isinstance(model, str):
        site.warn("sim_model_missing", node=site.id)
        return {}
    before, slash, _ = model.partition("/")
    provider = before if slash else next((name for start, name in PROVIDERS if start.match(model.lower())), "")
    named: dict[str, JSON] = {"provider": provider} if re.fullmatch(r"[\w-]+", provider) else {}
    return {**named, "model": site.text(model, "model")}


def _settings(site: Site) -> dict[str, JSON]:
    settings: dict[str, JSON] = {}
    temperature = site.take("temperature")
    if temperature is not None:
        number = _number(temperature)
        if number is not None and 0 <= number <= _MAX_TEMPERATURE:
            settings["temperature"] = number
        else:
            detail = f"{temperature!r} is not a number from 0 to 2"
            site.warn("sim_field_unreadable", "temperature", field="temperature", detail=detail)
    limit = site.take("maxTokens")
    if limit is not None:
        tokens = whole_number(limit)
        if tokens is not None and tokens <= MAX_OUTPUT_TOKENS:
            settings["max_tokens"] = tokens
        else:
            site.warn("sim_field_unreadable", "maxTokens", field="maxTokens", detail=f"{limit!r} is not a number of tokens")
    site.warn_unused("llm")
    return settings


def _number(value: JSON) -> float | None:
    try:
        return float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else None
    except ValueError:
        return None


# -- messages ---------------------------------------------------------------------------------------------------------


def _conversation(site: Site) -> dict[str, JSON]:
    """`system` and `prompt` if there is at most one message of each, else `messages`. If there are only system messages, the last
    one becomes the user's message, as in Sim for models that require one."""
    messages = [*_messages(site)]
    for role, field in (("system", "systemPrompt"), ("user", "userPrompt")):
        text = site.take(field)
        if text is not None:
            message = {"role": role, "content": site.text(text, field)}
            messages = [message, *messages] if role == "system" else [*messages, message]
    if messages and all(message["role"] == "system" for message in messages):
        messages[-1] = {**messages[-1], "role": "user"}
    roles = [message["role"] for message in messages]
    if roles in (["user"], ["system", "user"]):
        names = {"system": "system", "user": "prompt"}
        return {names[message["role"]]: message["content"] for message in messages}
    return {"messages": messages} if messages else {}


def _messages(site: Site) -> Iterator[dict[str, JSON]]:
    value = site.take("messages")
    if value is None:
        return
    try:
        messages = read_list(value)
    except Unreadable as error:
        if isinstance(value, str):
            yield {"role": "user", "content": site.text(value, "messages")}
        else:
            site.warn("sim_field_unreadable", "messages", field="messages", detail=error)
        return
    for number, message in enumerate(messages):
        if message.get("role") in _ROLES:
            yield {"role": message["role"], "content": site.text(message.get("content"), "messages")}
        else:
            site.warn_ignored(f"messages.{number}", "llm", dict(message))


# -- tools ------------------------------------------------------------------------------------------------------------


def _tools(site: Site) -> Iterator[dict[str, JSON]]:
    """Each tool becomes a registered function with fixed args. Tools that are switched off are left out. Each gets a finding."""
    value = site.take("tools")
    try:
        tools = read_list(value if value is not None else [])
    except Unreadable as error:
        site.warn("sim_field_unreadable", "tools", field="tools", detail=error)
        return
    for number, tool in enumerate(tools):
        if tool.get("usageControl") == "none" or number >= MAX_TOOLS:
            title = tool.get("title") or tool.get("type")
            site.warn_ignored(f"tools.{number}", "llm", f"{title} is switched off, or there are too many tools")
            continue
        if tool.get("usageControl") == "force":
            site.warn_ignored(f"tools.{number}.usageControl", "llm", "nothing makes the model call a tool")
        yield _tool(site, tool)


def _tool(site: Site, tool: Mapping[str, JSON]) -> dict[str, JSON]:
    declared = _object(tool.get("schema"))
    asked = _object(declared.get("function")) or declared
    sort, title = str(tool.get("type") or "tool"), str(tool.get("title") or tool.get("type") or "tool")
    call = call_name(*((title,) if sort in ("custom-tool", "mcp") else (sort, str(tool.get("operation") or ""))))
    site.warn("sim_tool_without_equivalent", "tools", name=title, call=call)
    written: dict[str, JSON] = {"call": call}
    if isinstance(asked.get("description"), str) and asked["description"]:
        written["description"] = site.references.as_it_is(asked["description"])
    if isinstance(asked.get("parameters"), dict):
        written["parameters"] = site.references.untouched(asked["parameters"])
    args = {**_object(tool.get("params")), **{name: tool[name] for name in _TOOL_FIELDS if tool.get(name)}}
    present = {name: arg for name, arg in args.items() if name and arg is not None and arg not in ("", [], {})}
    kept = {name[:MAX_ID_CHARACTERS]: site.value(arg, "tools") for name, arg in present.items()}
    if isinstance(tool.get("code"), str) and tool["code"]:
        kept["code"] = site.references.as_it_is(tool["code"])
    return {**written, "args": kept} if kept else written


def _object(value: JSON) -> Mapping[str, JSON]:
    return value if isinstance(value, dict) else {}


_TOOL_FIELDS: Final = ("credentialId", "customToolId", "serverId")
