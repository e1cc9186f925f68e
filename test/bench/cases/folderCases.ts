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

/** Measurements of one folder, for the growth rows. */
export interface Seen {
  readonly files: number;
  readonly selectMs: number;
  readonly packageMs: number;
  readonly peakBytes: number;
}

const timesPerProcess = 5;
const manyFiles = 10_000;
const hugeFiles = 50_000;
const fewFiles = 1000;
/** About the time that packaging takes. */
const idleMs = 2000;

export async function measureFolder(
  { name, root }: Corpus,
  subjects: Subjects,
  scratch: string,
  pairs: number,
): Promise<{ rows: Row[]; seen: Seen }> {
  const peers = peersFor(root, scratch);
  const first: number[] = [];
  const statuses: number[] = [];
  const often = (peer: () => number): number => median(Array.from({ length: timesPerProcess }, peer));
  let files = 0;
  const selection = await inPairs(
    pairs,
    async () => {
      const outcome = await subjects.run({ kind: 'select', root, times: timesPerProcess });
      files = outcome.files;
      first.push(outcome.ms[0] ?? NaN);
      return median(outcome.ms.slice(1));
    },
    () => {
      statuses.push(often(peers.status));
      return often(peers.select);
    },
  );
  const corpus = `${name} (${files})`;
  const zip = await measurePackaging('zip', peers.zip);
  const tar = await measurePackaging('tar_gz', peers.tarGz);
  const whole = [...zip.outcomes, ...tar.outcomes];
  const peakBytes = Math.max(...whole.map((one) => one.peakBytes));
  const idle = await subjects.run({ kind: 'idle', ms: idleMs });
  const cancelled: number[] = [];
  for (let pair = 0; pair < pairs; pair++) {
    const { ms } = await subjects.run({ kind: 'cancel', root, to: join(scratch, 'archive') });
    cancelled.push(...ms);
  }

  const rows: Row[] = [
    {
      what: 'selection',
      corpus,
      unit: 'ms',
      ...selection,
      peerName: 'git ls-files',
      target: { atMost: 4 },
    },
    ...(files >= hugeFiles
      ? [{ what: 'selection', corpus, unit: 'ms', ours: selection.ours, target: { atMost: 1_200 } } as const]
      : []),
    withSizes('selection', corpus, selection.ours, median(statuses)),
    {
      what: 'selection, first in its process',
      corpus,
      unit: 'ms',
      ours: median(first),
      peer: selection.peer,
      ratio: median(first) / selection.peer,
    },
    {
      what: 'packaging zip',
      corpus,
      unit: 'ms',
      ...zip.times,
      peerName: 'git archive -6',
      target: files >= manyFiles ? { atMost: 0.8 } : undefined,
    },
    ...(files >= manyFiles && files < hugeFiles ? [await besideArchiver()] : []),
    { what: 'bytes of zip', corpus, unit: 'MB', ...zip.bytes, target: { atMost: 1 } },
    {
      what: 'packaging tar.gz',
      corpus,
      unit: 'ms',
      ...tar.times,
      peerName: peers.hasPigz ? 'tar | pigz -p2' : 'tar | gzip',
      target: files >= manyFiles && peers.hasPigz ? { atMost: 1 } : undefined,
      note: peers.hasPigz ? undefined : 'pigz is not installed: gzip has one thread',
    },
    { what: 'bytes of tar.gz', corpus, unit: 'MB', ...tar.bytes },
    {
      what: 'selection and packaging',
      corpus,
      unit: 'ms',
      ours: median(whole.map((one) => one.ms[0] ?? NaN)),
      target: files <= fewFiles ? { atMost: 300 } : undefined,
    },
    {
      what: 'cancelling the packaging',
      corpus,
      unit: 'ms',
      ours: median(cancelled),
      target: { atMost: 500 },
    },
    { what: 'peak memory', corpus, unit: 'MB', ours: peakBytes / 1e6, target: { atMost: 250 } },
    {
      what: 'event loop delay, p99',
      corpus,
      unit: 'ms',
      ours: median(whole.map((one) => one.delayP99Ms)),
      peer: idle.delayP99Ms,
      peerName: 'idle process',
      target: { atMost: 15 },
    },
    {
      what: 'event loop delay, max',
      corpus,
      unit: 'ms',
      ours: Math.max(...whole.map((one) => one.delayMaxMs)),
      peer: idle.delayMaxMs,
      peerName: 'idle process',
      target: { atMost: 100 },
    },
  ];
  return { rows, seen: { files, selectMs: selection.ours, packageMs: zip.times.ours, peakBytes } };

  /** The same archive by the library that would stand behind ours. */
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

/** Selection beside the peer that reads every file's inode, too: `git ls-files` needs none. */
export function withSizes(what: string, corpus: string, ours: number, peer: number): Row {
  return {
    what: `${what}, with sizes`,
    corpus,
    unit: 'ms',
    ours,
    peer,
    peerName: 'git status',
    ratio: ours / peer,
  };
}

export function growthRows(seen: readonly Seen[]): Row[] {
  return seen.slice(1).flatMap((larger, index): Row[] => {
    const smaller = seen[index];
    if (smaller === undefined) return [];
    const corpus = `${smaller.files} → ${larger.files}`;
    const perFile = (ms: (one: Seen) => number): number =>
      ms(larger) / larger.files / (ms(smaller) / smaller.files);
    return [
      { what: 'growth: selection, per file', corpus, unit: '×', ours: perFile((one) => one.selectMs) },
      { what: 'growth: packaging zip, per file', corpus, unit: '×', ours: perFile((one) => one.packageMs) },
      { what: 'growth: peak memory', corpus, unit: 'MB', ours: (larger.peakBytes - smaller.peakBytes) / 1e6 },
    ];
  });
}
