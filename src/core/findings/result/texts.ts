import type { Run } from '../../run/state/run.ts';
import type { Finding } from '../finding.ts';
import type { ShownFinding } from '../shownFinding.ts';

/** Findings of a run, by their `Finding.index`. */
export interface WantedTexts {
  readonly run: Run;
  readonly indexes: readonly number[];
}

export type Texted = Pick<ShownFinding, 'run' | 'finding' | 'isBrief'>;

/** Findings with all their texts: brief ones get those that `read` finds. */
export async function addTexts<T extends Texted>(
  findings: readonly T[],
  read: (wanted: readonly WantedTexts[]) => Promise<readonly (readonly Finding[])[]>,
): Promise<readonly T[]> {
  const brief = findings.filter(({ isBrief }) => isBrief === true);
  if (brief.length === 0) return findings;
  const wanted = [...Map.groupBy(brief, ({ run }) => run.id).values()].flatMap((some) => {
    const indexes = some.map(({ finding }) => finding.index);
    return some.slice(0, 1).map(({ run }) => ({ run, indexes }));
  });
  const found = await read(wanted);
  const whole = new Map(
    wanted.flatMap(({ run }, at) =>
      (found[at] ?? []).map((finding) => [`${run.id} ${String(finding.index)}`, finding] as const),
    ),
  );
  return findings.map((shown) => {
    const finding = whole.get(`${shown.run.id} ${String(shown.finding.index)}`);
    if (shown.isBrief !== true || finding === undefined) return shown;
    // Places stay the same objects, since others refer to them.
    return { ...shown, isBrief: undefined, finding: { ...finding, places: shown.finding.places } };
  });
}
