export interface Row {
  readonly what: string;
  readonly corpus: string;
  readonly ours: number;
  readonly unit: 'ms' | 'kB' | 'MB' | 'MB/s' | '×';
  /** If there is a peer's value in the same run, the target is about `ratio`. */
  readonly peer?: number | undefined;
  readonly peerName?: string | undefined;
  /** This is the median of the pairs' own ratios. */
  readonly ratio?: number | undefined;
  readonly target?: Target | undefined;
  readonly note?: string | undefined;
}

/** The target bounds the ratio if there is a peer, and our value otherwise. */
export interface Target {
  readonly atMost?: number;
  readonly atLeast?: number;
}

/** Returns undefined for a row without a target. */
export function isKept({ ours, ratio, target }: Row): boolean | undefined {
  if (target === undefined) return undefined;
  const value = ratio ?? ours;
  return value <= (target.atMost ?? Infinity) && value >= (target.atLeast ?? -Infinity);
}

export function toTable(rows: readonly Row[]): string {
  const cells = [['', 'corpus', 'ours', 'peer', 'ratio', 'target', ''], ...rows.map(toCells)];
  const widths =
    cells[0]?.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0))) ?? [];
  return cells
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function toCells(row: Row): string[] {
  const { what, corpus, ours, unit, peer, peerName, ratio, target, note } = row;
  const kept = isKept(row);
  const bound = target?.atMost === undefined ? `≥ ${target?.atLeast ?? ''}` : `≤ ${target.atMost}`;
  const verdict = kept === undefined ? '' : kept ? 'ok' : 'MISSED';
  return [
    what,
    corpus,
    `${round(ours)} ${unit}`,
    peer === undefined ? '' : `${round(peer)} ${unit}${peerName === undefined ? '' : ` (${peerName})`}`,
    ratio === undefined ? '' : `${ratio.toFixed(2)}×`,
    target === undefined ? '' : `${bound}${ratio === undefined ? ` ${unit}` : '×'}`,
    note === undefined ? verdict : `${verdict} ${note}`.trim(),
  ];
}

function round(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
