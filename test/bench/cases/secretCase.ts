import type { Corpus } from './folderCases.ts';
import { median } from '../pairs.ts';
import type { Row } from '../rows.ts';
import type { Subjects } from '../subjects/subjects.ts';

export async function measureSecretCheck(
  { name, root }: Corpus,
  subjects: Subjects,
  times: number,
): Promise<Row[]> {
  const speeds: number[] = [];
  const peaks: number[] = [];
  for (let time = 0; time < times; time++) {
    const { ms, sourceBytes, peakBytes } = await subjects.run({ kind: 'secrets', root });
    speeds.push(sourceBytes / 1e3 / (ms[0] ?? NaN));
    peaks.push(peakBytes);
  }
  return [
    { what: 'secret check', corpus: name, unit: 'MB/s', ours: median(speeds), target: { atLeast: 10 } },
    { what: 'peak memory of the secret check', corpus: name, unit: 'MB', ours: Math.max(...peaks) / 1e6 },
  ];
}
