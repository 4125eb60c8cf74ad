"""Notes what is refused of a source, and what it is warned of."""

from __future__ import annotations

import ast
from typing import NoReturn

from stepless.flow.compiler.origin import Origin
from stepless.flow.compiler.refusals import Refusal, Remark


class Remarks:
    """The remarks on the function that is being compiled."""

    origin: Origin
    statement: ast.AST
    findings: list[Remark]
    warnings: list[Remark]

    def refuse(self, node: ast.AST, code: str, message: str, mend: str) -> NoReturn:
        raise Refusal(node, code, message, mend)

    def note(self, refusal: Refusal) -> None:
        node = refusal.node if hasattr(refusal.node, "lineno") else self.statement
        self.findings.append(self._remark(node, refusal.code, refusal.message, refusal.mend))

    def warn(self, node: ast.AST, code: str, message: str, mend: str) -> None:
        remark = self._remark(node, code, message, mend)
        if remark not in self.warnings:
            self.warnings.append(remark)

    def _remark(self, node: ast.AST, code: str, message: str, mend: str) -> Remark:
        return Remark(self.origin.file, self.origin.line(node), code, message, mend)
