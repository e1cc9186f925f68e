import type { Corpus } from './folderCases.ts';
import { median } from '../pairs.ts';
import type { Row } from '../rows.ts';
import type { Subjects } from '../subjects/subjects.ts';

export async function measureSecretCheck(
  { name, root }: Corpus,
  subjects: Subjects,
  times: number,
): Promise<Row> {
  const speeds: number[] = [];
  for (let time = 0; time < times; time++) {
    const { ms, sourceBytes } = await subjects.run({ kind: 'secrets', root });
    speeds.push(sourceBytes / 1e3 / (ms[0] ?? NaN));
  }
  return { what: 'secret check', corpus: name, unit: 'MB/s', ours: median(speeds), target: { atLeast: 10 } };
}
