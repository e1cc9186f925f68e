import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ArchiveFormat } from '../../../src/core/upload/archive/packing.ts';
import { inPairs, median } from '../pairs.ts';
import { type Packed, peersFor } from '../peers.ts';
import type { Row } from '../rows.ts';
import type { Outcome } from '../subjects/subject.ts';
import type { Subjects } from '../subjects/subjects.ts';

export interface Corpus {
  readonly name: string;
  readonly root: string;
}

const timesPerProcess = 5;
const manyFiles = 10_000;
const hugeFiles = 50_000;
const fewFiles = 1000;

export async function measureFolder(
  { name, root }: Corpus,
  subjects: Subjects,
  scratch: string,
  pairs: number,
): Promise<Row[]> {
  const peers = peersFor(root, scratch);
  let files = 0;
  const selection = await inPairs(
    pairs,
    async () => {
      const outcome = await subjects.run({ kind: 'select', root, times: timesPerProcess });
      files = outcome.files;
      return median(outcome.ms.slice(1));
    },
    () => median(Array.from({ length: timesPerProcess }, peers.select)),
  );
  const corpus = `${name} (${files})`;
  const zip = await measurePackaging('zip', peers.zip);
  const tar = await measurePackaging('tar_gz', peers.tarGz);
  const whole = [...zip.outcomes, ...tar.outcomes];
  const largest = (key: 'peakBytes' | 'delayMaxMs'): number => Math.max(...whole.map((one) => one[key]));
  const cancelled: number[] = [];
  for (let pair = 0; pair < pairs; pair++) {
    const { ms } = await subjects.run({ kind: 'cancel', root, to: join(scratch, 'archive') });
    cancelled.push(...ms);
  }

  const isMany = files >= manyFiles;
  const rows: Row[] = [
    { what: 'selection', unit: 'ms', corpus, ...selection, peerName: 'git ls-files', target: { atMost: 4 } },
    {
      what: 'packaging zip',
      corpus,
      unit: 'ms',
      ...zip.times,
      peerName: 'git archive -6',
      target: isMany ? { atMost: 0.8 } : undefined,
    },
    { what: 'bytes of zip', corpus, unit: 'MB', ...zip.bytes, target: { atMost: 1 } },
    {
      what: 'packaging tar.gz',
      corpus,
      unit: 'ms',
      ...tar.times,
      peerName: peers.hasPigz ? 'tar | pigz -p2' : 'tar | gzip',
      target: isMany && peers.hasPigz ? { atMost: 1 } : undefined,
      note: peers.hasPigz ? undefined : 'pigz is not installed: gzip has one thread',
    },
    { what: 'bytes of tar.gz', corpus, unit: 'MB', ...tar.bytes },
  ];
  const add = (what: string, unit: Row['unit'], ours: number, atMost: number): void =>
    void rows.push({ what, corpus, unit, ours, target: { atMost } });
  if (files >= hugeFiles) add('selection', 'ms', selection.ours, 1_200);
  else if (isMany) rows.push(await besideArchiver());
  if (files <= fewFiles)
    add('selection and packaging', 'ms', median(whole.map(({ ms }) => ms[0] ?? NaN)), 300);
  add('cancelling the packaging', 'ms', median(cancelled), 500);
  add('peak memory', 'MB', largest('peakBytes') / 1e6, 250);
  add('event loop delay, p99', 'ms', median(whole.map((one) => one.delayP99Ms)), 15);
  add('event loop delay, max', 'ms', largest('delayMaxMs'), 100);
  return rows;

  /** Packs the same archive with the library that would stand behind ours. */
  async function besideArchiver(): Promise<Row> {
    const to = join(scratch, 'archive');
    const pack = async (kind: 'package' | 'archiver'): Promise<number> => {
      const job = kind === 'package' ? { kind, root, format: 'zip' as const, to } : { kind, root, to };
      const { packagingMs } = await subjects.run(job);
      rmSync(to);
      return packagingMs;
    };
    const times = await inPairs(
      pairs,
      () => pack('package'),
      () => pack('archiver'),
    );
    const target = { atMost: 0.2 };
    return { what: 'packaging zip', corpus, unit: 'ms', ...times, peerName: 'archiver', target };
  }

  async function measurePackaging(
    format: ArchiveFormat,
    peer: (to: string) => Packed,
  ): Promise<{
    times: Pick<Row, 'ours' | 'peer' | 'ratio'> & { ours: number };
    bytes: { ours: number; peer: number; ratio: number };
    outcomes: Outcome[];
  }> {
    const outcomes: Outcome[] = [];
    const to = join(scratch, 'archive');
    let peerBytes = 0;
    const times = await inPairs(
      pairs,
      async () => {
        const outcome = await subjects.run({ kind: 'package', root, format, to });
        rmSync(to);
        outcomes.push(outcome);
        return outcome.packagingMs;
      },
      () => {
        const packed = peer(to);
        rmSync(to);
        peerBytes = packed.bytes;
        return packed.ms;
      },
    );
    const ours = outcomes[0]?.archiveBytes ?? NaN;
    return { times, bytes: { ours: ours / 1e6, peer: peerBytes / 1e6, ratio: ours / peerBytes }, outcomes };
  }
}
