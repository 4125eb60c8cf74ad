"""Writes the Terraform module, and the properties of the CDK construct, from template.yaml.

    python generate.py [--check | --module FOLDER]

The generated files of the Terraform module are not committed; those of the CDK construct are. `--check` writes nothing, and fails
if a file that is present differs from what it would write. `--module` writes the whole module, and nothing else, into another
folder. Run by the interpreter of `.tools/sam`, which has the transform of SAM: `make terraform`.
"""

from __future__ import annotations

import argparse
import json
import logging
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from cfnlint.schema import PROVIDER_SCHEMA_MANAGER
from hcl import Expressions, NotConverted, block, indented, snake, text
from samcli.yamlhelper import yaml_parse
from samtranslator.translator.transform import transform

HERE: Final = Path(__file__).resolve().parent
ROOT: Final = HERE.parents[1]
CDK: Final = HERE.parent / "cdk" / "stepless_cdk"
NOTE: Final = "# Made from template.yaml by `make terraform`. Do not edit.\n"
CODE: Final = {"AWS::Lambda::Function": "Code", "AWS::Lambda::LayerVersion": "Content"}
REPLACED: Final = frozenset({"AWS::Lambda::LayerVersion", "AWS::Lambda::Version"})  # by every release
YOUNG_TAGS: Final = frozenset({"AWS::CloudWatch::Dashboard"})  # not in the oldest provider that the module permits
NO_COMMA_FIRST: Final = "(?!,)"  # the regular expressions of Terraform have no lookahead


class NoManagedPolicies:
    """The template names its own roles: no policy of AWS's is looked up."""

    def load(self) -> dict[str, str]:
        return {}


def transformed(source: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """The template without SAM, and the name of each resource in Terraform. SAM appends a hash to the names of layers."""
    template = dict(source)
    for resource in template["Resources"].values():
        for key in ("CodeUri", "ContentUri"):
            if key in resource.get("Properties", {}):
                resource["Properties"][key] = "s3://bucket/key"
    template["Globals"]["Function"]["CodeUri"] = "s3://bucket/key"
    made: dict[str, Any] = transform(template, {}, NoManagedPolicies())
    names = {}
    for logical, resource in made["Resources"].items():
        names[logical] = snake(_folder(logical) if resource["Type"] == "AWS::Lambda::LayerVersion" else logical)
    return made, names


# -- the module -------------------------------------------------------------------------------------------------------


def main_tf(template: Mapping[str, Any], names: Mapping[str, str]) -> str:
    expressions = Expressions(template, names)
    artifacts = {names[name]: name for name, resource in template["Resources"].items() if resource["Type"] in CODE}
    locals_ = [(snake(name), expressions.value(condition)) for name, condition in template["Conditions"].items()]
    folders = "{\n" + indented(block([(label, text(_folder(name))) for label, name in sorted(artifacts.items())])) + "\n}"
    given = ", ".join(f"var.{snake(name)}" for name in template["Parameters"])
    locals_.append(("given", f"nonsensitive(sha256(jsonencode([{given}])))"))  # a hash, of key hashes among others
    locals_ += [("artifacts", "toset(keys(local.folders))"), ("folders", folders)]
    parts = [NOTE, f"locals {{\n{indented(block(locals_))}\n}}\n", _rules(template, expressions)]
    parts += [_resource(logical, resource, names, expressions) for logical, resource in template["Resources"].items()]
    return "\n".join(parts)


def _folder(logical: str) -> str:
    """The folder of an artifact in `.aws-sam/build`, which has the name of its resource in template.yaml."""
    return re.sub(r"[0-9a-f]{10}$", "", logical)


def _rules(template: Mapping[str, Any], expressions: Expressions) -> str:
    """The rules about parameters, checked before anything changes."""
    written = []
    for rule in template["Rules"].values():
        applies = expressions.value(rule["RuleCondition"])
        for assertion in rule["Assertions"]:
            condition = f"!({applies}) || ({expressions.value(assertion['Assert'])})"
            pairs = [("condition", condition), ("error_message", text(f"{assertion['AssertDescription']}."))]
            written.append(f"precondition {{\n{indented(block(pairs))}\n}}")
    body = "lifecycle {\n" + indented("\n".join(written)) + "\n}"
    return f'resource "terraform_data" "rules" {{\n{indented(body)}\n}}\n'


def _resource(logical: str, resource: Mapping[str, Any], names: Mapping[str, str], expressions: Expressions) -> str:
    kind, label = expressions.address(logical).split(".")
    count = [("count", f"{expressions.value({'Condition': resource['Condition']})} ? 1 : 0")] if "Condition" in resource else []
    pairs = []
    for key, value in resource.get("Properties", {}).items():
        if key == CODE.get(resource["Type"]):
            stored = f"aws_s3_object.code[{text(label)}]"
            code = [("s3_bucket", f"{stored}.bucket"), ("s3_key", f"{stored}.key")]
            pairs.append((snake(key), "{\n" + indented(block(code)) + "\n}"))
        else:
            pairs.append((snake(key), expressions.value(value, of=resource["Type"], key=key)))
    if (form := _form_of_tags(resource["Type"])) is not None:
        name = snake(_property_of_tags(resource["Type"]))
        pairs = [*(pair for pair in pairs if pair[0] != name), (name, form)]
    body = (block(count) + "\n\n" if count else "") + block(pairs)
    if resource["Type"] in REPLACED:
        body += "\n\nlifecycle {\n  create_before_destroy = true\n}"
    elif resource.get("DeletionPolicy") == "Retain":
        body += "\n\nlifecycle {\n  prevent_destroy = true\n}"
    return f'resource "{kind}" "{label}" {{\n{indented(body)}\n}}\n'


def _form_of_tags(kind: str) -> str | None:
    """`var.tags` as a type of resource takes it, by its schema. None: it takes none."""
    schema = PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-east-1", kind).schema
    declared = schema["properties"].get(_property_of_tags(kind))
    if declared is None or kind in YOUNG_TAGS:
        return None
    if declared["type"] == "array":
        return "[for name, value in var.tags : { key = name, value = value }]"
    return "var.tags" if "patternProperties" in declared else "jsonencode(var.tags)"


def _property_of_tags(kind: str) -> str:
    return "UserPoolTags" if kind == "AWS::Cognito::UserPool" else "Tags"


def variables_tf(template: Mapping[str, Any]) -> str:
    return "\n".join([NOTE, *(_variable(name, declared) for name, declared in template["Parameters"].items())])


def _variable(name: str, declared: Mapping[str, Any]) -> str:
    kind = {"String": "string", "Number": "number", "CommaDelimitedList": "list(string)"}.get(declared["Type"])
    if kind is None:
        raise NotConverted(f"a parameter of the type {declared['Type']}")
    pairs = [("description", text(declared["Description"]))] if "Description" in declared else []
    pairs.append(("type", kind))
    if "Default" in declared:
        pairs.append(("default", _default(kind, declared["Default"])))
    if declared.get("NoEcho"):
        pairs.append(("sensitive", "true"))
    checks = [f"validation {{\n{indented(block(each))}\n}}" for each in _checks(snake(name), kind, declared)]
    return f'variable "{snake(name)}" {{\n{indented(chr(10).join([block(pairs), *checks]))}\n}}\n'


def _default(kind: str, given: Any) -> str:
    if kind == "number":
        return str(given)
    if kind == "string":
        return text(str(given))
    return "[" + ", ".join(text(each) for each in str(given).split(",") if each) + "]"


def _checks(name: str, kind: str, declared: Mapping[str, Any]) -> list[list[tuple[str, str]]]:
    given = f"var.{name}"
    found = []
    if "AllowedValues" in declared:
        values = ", ".join(text(str(each)) if kind == "string" else str(each) for each in declared["AllowedValues"])
        found.append((f"contains([{values}], {given})", "is not one of the allowed values"))
    if "AllowedPattern" in declared:
        rest = declared["AllowedPattern"].removeprefix(NO_COMMA_FIRST)
        condition = f"can(regex({text('^(?:' + rest + ')$')}, {given}))"
        if rest != declared["AllowedPattern"]:
            condition += f' && !startswith({given}, ",")'
        found.append((condition, "does not have the required form"))
    if "MinValue" in declared:
        found.append((f"{given} >= {declared['MinValue']}", f"is less than {declared['MinValue']}"))
    if "MaxValue" in declared:
        found.append((f"{given} <= {declared['MaxValue']}", f"is more than {declared['MaxValue']}"))
    return [[("condition", condition), ("error_message", text(f"{name} {why}."))] for condition, why in found]


def outputs_tf(template: Mapping[str, Any], names: Mapping[str, str]) -> str:
    expressions = Expressions(template, names)
    parts = [NOTE]
    for name, output in template["Outputs"].items():
        pairs = [("description", text(output["Description"]))] if "Description" in output else []
        pairs.append(("value", expressions.value(output["Value"])))
        parts.append(f'output "{snake(name)}" {{\n{indented(block(pairs))}\n}}\n')
    return "\n".join(parts)


# -- the CDK construct ------------------------------------------------------------------------------------------------


def cdk_template(template: Mapping[str, Any]) -> str:
    """The template without SAM, whose code the construct replaces, with its rules and conditions, which the construct evaluates.
    The id of a version or a layer is the same in all releases, so CloudFormation replaces the resource: nothing is retained."""
    kept = {key: value for key, value in template.items() if key not in ("Metadata", "Mappings")}
    kept["Resources"] = {_folder(name) if each["Type"] in CODE else name: each for name, each in kept["Resources"].items()}
    for each in kept["Resources"].values():
        if each["Type"] in REPLACED:
            each.pop("DeletionPolicy", None)
    text_ = json.dumps(kept, indent=1)
    for name, each in template["Resources"].items():
        if each["Type"] in CODE:
            text_ = text_.replace(f'"{name}"', f'"{_folder(name)}"')
    return text_ + "\n"


def cdk_parameters(template: Mapping[str, Any]) -> str:
    types = {"String": "str", "Number": "float", "CommaDelimitedList": "Sequence[str]"}
    lines = [
        "# ruff: noqa: E501",
        '"""The parameters of the construct. Made from template.yaml by `make terraform`. Do not edit."""', "",
        "from __future__ import annotations", "", "from collections.abc import Sequence",
        "from typing import Final, Literal, NotRequired, TypedDict", "", "",
        "class Parameters(TypedDict):",
        '    """Parameters of template.yaml, in snake case; those without a default are required."""', "",
    ]  # fmt: skip
    for name, declared in template["Parameters"].items():
        kind = types[declared["Type"]]
        if "AllowedValues" in declared:
            kind = f"Literal[{', '.join(json.dumps(each) for each in declared['AllowedValues'])}]"
        elif kind == "float":
            kind = "int"
        lines.append(f"    {snake(name)}: {f'NotRequired[{kind}]' if 'Default' in declared else kind}")
        if "Description" in declared:
            lines.append(f'    """{declared["Description"]}"""')
    lines += ["", "", "NAMES: Final = {"]
    lines += [f'    "{snake(name)}": "{name}",' for name in template["Parameters"]]
    lines += ["}", '"""The name of each parameter in template.yaml."""']
    return "\n".join(lines) + "\n"


# -- the files --------------------------------------------------------------------------------------------------------


def files() -> dict[Path, str]:
    template, names = transformed(yaml_parse((ROOT / "template.yaml").read_text("utf-8")))
    del template["Parameters"]["Deployment"]  # CodeDeploy moves an alias in an update of a stack that SAM has made
    return {
        HERE / "main.tf": main_tf(template, names),
        HERE / "variables.tf": variables_tf(template),
        HERE / "outputs.tf": outputs_tf(template, names),
        CDK / "template.json": cdk_template(template),
        CDK / "parameters.py": cdk_parameters(template),
    }


def stale(made: Mapping[Path, str]) -> list[Path]:
    """The files whose content is not the generated one. A file of the Terraform module may be absent: it is not committed."""
    return [path for path, content in made.items() if (path.exists() or CDK in path.parents) and _content(path) != content]


def _content(path: Path) -> str | None:
    return path.read_text("utf-8") if path.exists() else None


def write_module(made: Mapping[Path, str], folder: Path) -> None:
    """The generated files and those that are written by hand, so that the folder is a module by itself."""
    folder.mkdir(parents=True, exist_ok=True)
    for path, content in made.items():
        if path.parent == HERE:
            (folder / path.name).write_text(content, "utf-8")
    for path in HERE.glob("*.tf"):
        if path not in made:
            shutil.copy(path, folder)


def main() -> int:
    parser = argparse.ArgumentParser()
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--check", action="store_true")
    which.add_argument("--module", type=Path)
    given = parser.parse_args()
    logging.disable()  # the transform warns that its metrics go nowhere
    made = files()
    if given.module is not None:
        write_module(made, given.module)
    elif given.check:
        found = stale(made)
        for path in found:
            sys.stderr.write(f"{path.relative_to(ROOT)} does not belong to template.yaml: run `make terraform`\n")
        return 1 if found else 0
    else:
        for path, content in made.items():
            path.write_text(content, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
