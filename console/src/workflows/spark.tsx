/** Runs over the window as bars, with those that failed in them. */
import type { ReactElement } from "react";
import { barsOf, barWords, type Health } from "./health.ts";

export function Spark({ of, height = 20, step = 4 }: { readonly of: Health; readonly height?: number; readonly step?: number }): ReactElement {
  return (
    <svg className="spark" viewBox={`0 0 ${of.bars.length * step} ${height}`} width={of.bars.length * step} height={height} role="img" aria-label={barWords(of)} preserveAspectRatio="none">
      {barsOf(of.bars, of.failed_bars, height).map(({ at, whole, failed }) => (
        <g key={at}>
          <rect className="none" x={at * step} y={height - 1} width={step - 1} height={1} />
          {whole > failed ? <rect className="fine" x={at * step} y={height - whole} width={step - 1} height={whole - failed} /> : null}
          {failed > 0 ? <rect className="failed" x={at * step} y={height - failed} width={step - 1} height={failed} /> : null}
        </g>
      ))}
    </svg>
  );
}
